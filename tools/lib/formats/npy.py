"""NumPy's .npy: features in one file, labels and queries in other files (NumPy enhancement
proposal 1), which may also be text, a line a row. One dimension is one feature; three are the matrices
of svm-smm-train."""
import array
import ast
import struct
import sys

from lib.files import Source
from lib.number import LARGEST, is_number, shortest, shortest_single
from lib.svmlight import Row, Words
from lib.tool import quoted, refuse

BLOCK_BYTES = 1 << 22
KINDS = {"f2": "e", "f4": "f", "f8": "d", "b1": "?", "i1": "b", "u1": "B", "i2": "h", "u2": "H",
         "i4": "i", "u4": "I", "i8": "q", "u8": "Q"}


class Array:
    """The header of a .npy file, and its numbers by rows."""

    def __init__(self, path, source=None):
        self.path = path
        self.source = source or Source(path, seekable=True)
        with self.source.open() as stream:
            self._read_head(stream)
            stream.seek(0, 2)
            needed = self.start + self.n_rows * self.width * self.item
            if stream.tell() < needed:
                refuse(f"ends early: {stream.tell()} bytes for {needed}", path)

    def _read_head(self, stream):
        magic = stream.read(8)
        if magic[:4] == b"PK\x03\x04":
            refuse("is an .npz archive: save its arrays as .npy", self.path)
        if magic[:6] != b"\x93NUMPY" or magic[6:7] not in b"\1\2\3" or len(magic) < 8:
            refuse("not a .npy file", self.path)
        long = magic[6] > 1
        size = stream.read(4 if long else 2)
        size = struct.unpack("<I" if long else "<H", size)[0] if len(size) == (4 if long else 2) else 0
        head = stream.read(size) if size < 1 << 16 else b""
        try:
            facts = ast.literal_eval(head.decode("utf-8" if magic[6] == 3 else "latin-1"))
            kind, fortran, shape = facts["descr"], facts["fortran_order"], facts["shape"]
            shape = tuple(int(n) for n in shape)
        except (ValueError, SyntaxError, KeyError, TypeError, UnicodeDecodeError):
            refuse("not a .npy file: its header cannot be read", self.path)
        if not isinstance(kind, str) or not kind:
            refuse("an array of records cannot be read", self.path)
        if any(n < 0 for n in shape):
            refuse("not a .npy file: negative shape", self.path)
        if not 1 <= len(shape) <= 3:
            refuse(f"{len(shape)} dimensions: 1, 2 or 3 are expected", self.path)
        self.fortran = bool(fortran) and len(shape) > 1
        self.start = stream.tell()
        self.shape = shape
        self.n_rows = shape[0]
        self.width = 1
        for n in shape[1:]:
            self.width *= n
        self._read_kind(kind)

    def _read_kind(self, kind):
        order, code = (kind[0], kind[1:]) if kind[0] in "<>|=" else ("=", kind)
        self.order = {"|": "<", "=": "<" if sys.byteorder == "little" else ">"}.get(order, order)
        self.characters = 0
        if code[:1] in "US" and code[1:].isdigit():
            self.characters = int(code[1:])
            self.code, self.item = code[0], self.characters * (4 if code[0] == "U" else 1)
        elif code in KINDS:
            self.code, self.item = KINDS[code], struct.calcsize("<" + KINDS[code])
        elif code == "O":
            refuse("an array of Python objects: save it as text, a line a row, or as an array of "
                   "numbers or text (array.astype(str))", self.path)
        else:
            refuse(f"numbers of type '{kind}' cannot be read (float, int, bool or text)", self.path)

    @property
    def is_float(self):
        return self.code in "efd"

    def text_of(self, value):
        """The text of a number, as the programs read it."""
        if self.code in "fe":
            return shortest_single(value)
        return shortest(value) if self.code == "d" else str(int(value))

    def _values(self, data):
        if not self.characters and not self.code == "U":
            return struct.unpack(f"{self.order}{len(data) // self.item}{self.code}", data)
        cells = [data[i:i + self.item] for i in range(0, len(data), self.item)]
        if self.code == "S":
            return [cell.rstrip(b"\0").decode("utf-8", "surrogateescape") for cell in cells]
        encoding = "utf-32-le" if self.order == "<" else "utf-32-be"
        try:
            return [cell.decode(encoding).rstrip("\0") for cell in cells]
        except UnicodeDecodeError:
            refuse("text that is no UTF-32", self.path)

    def _columns(self):
        """The columns of the file, each of n_rows values, in the order of a row's values: in Fortran
        order (k, l) of a matrix is number k + height * l."""
        height = self.shape[1]
        return [k + height * l for k in range(height) for l in range(self.width // max(height, 1))]

    def rows(self):
        """A sequence of `width` values for each row."""
        row_bytes = self.width * self.item
        step = max(1, BLOCK_BYTES // max(1, row_bytes))
        with self.source.open() as stream:
            stream.seek(self.start)
            for first in range(0, self.n_rows, step):
                n = min(step, self.n_rows - first)
                if row_bytes == 0:
                    yield from [()] * n
                elif not self.fortran:
                    values = self._values(stream.read(n * row_bytes))
                    yield from (values[i:i + self.width] for i in range(0, n * self.width, self.width))
                else:
                    columns = []
                    for column in self._columns():
                        stream.seek(self.start + (column * self.n_rows + first) * self.item)
                        columns.append(self._values(stream.read(n * self.item)))
                    yield from zip(*columns)


class Lines:
    """A text file of labels or queries, as an array of text: a line is a row."""

    code, is_float, width = "U", False, 1

    def __init__(self, source):
        self.source = source
        self.n_rows = sum(1 for _ in source.lines())
        self.shape = (self.n_rows,)

    def rows(self):
        return ((line.strip(),) for _, line in self.source.lines())


class NpyReader:
    """Reads rows of an array, with labels and queries from others. Line numbers are rows, from 1."""

    feature_names = label_names = None

    def __init__(self, source, options):
        self.path, self.options = source.path, options
        self.features = Array(source.path, source)
        if self.features.code in "US":
            refuse("features are text", self.path)
        shape = self.features.shape
        self.shape = shape[1:] if len(shape) == 3 else None
        self.labels = self._beside(options.labels_file)
        self.queries = self._beside(options.query_file)
        if self.queries and (self.queries.width != 1 or self.queries.is_float):
            refuse("queries: one whole number or word a row is expected", options.query_file)
        if self.labels is None and not options.unlabelled:
            refuse("where are the labels? --labels-file FILE, or --unlabelled", self.path)
        self.several = self.labels is not None and len(self.labels.shape) > 1 and self.labels.width > 1
        if self.several:
            self.label_names = options.given_labels or \
                [str(i) for i in range(1, self.labels.width + 1)]
            if len(self.label_names) != self.labels.width:
                refuse(f"{len(self.label_names)} names for {self.labels.width} labels",
                       options.label_names)

    def _beside(self, path):
        if path is None:
            return None
        source = Source(path, seekable=True)
        with source.open() as stream:
            binary = stream.read(6).startswith((b"\x93NUMPY", b"PK\x03\x04"))
        array_ = Array(path, source) if binary else Lines(source)
        if array_.n_rows != self.features.n_rows:
            refuse(f"{array_.n_rows} rows, but {self.path} has {self.features.n_rows}", path)
        return array_

    def _label(self, values, words, row):
        if self.several:
            for value in values:
                if value not in (0, 1):
                    refuse(f"row {row}: 0 or 1 is expected", self.options.labels_file)
            return ",".join(words(name, self.path, row)
                            for name, value in zip(self.label_names, values) if value)
        value = values[0]
        if self.labels.code in "US":
            return words(value, self.options.labels_file, row)
        if self.labels.is_float and not abs(value) < float("inf"):
            refuse(f"row {row}: label is not finite", self.options.labels_file)
        return self.labels.text_of(value)

    def rows(self):
        labels = self.labels.rows() if self.labels else None
        queries = self.queries.rows() if self.queries else None
        label_word, query_word = Words("label"), Words("query")
        text_of, policy = self.features.text_of, self.options.missing
        for row, values in enumerate(self.features.rows(), 1):
            features, left_out = [], False
            for index, value in enumerate(values, 1):
                if value == 0:
                    continue
                if value != value:
                    if policy == "error":
                        refuse(f"row {row}, column {index}: value is nan (see --missing)", self.path)
                    left_out |= policy == "skip"
                    if policy not in ("skip", "0"):
                        features.append((index, policy))
                    continue
                if not abs(value) < LARGEST:
                    refuse(f"row {row}, column {index}: value is "
                           + ("not finite" if abs(value) == float("inf") else
                              "too large for single precision"), self.path)
                features.append((index, text_of(value)))
            label = self._label(next(labels), label_word, row) if labels else ""
            query = None
            if queries:
                query = query_word(str(next(queries)[0]), self.options.query_file, row)
            if not left_out:
                yield row, Row(label, query, features, "")


# ---- writing ----


def _head(kind, shape):
    text = f"{{'descr': '{kind}', 'fortran_order': False, 'shape': {shape!r}, }}"
    size = 10 + len(text) + 1
    text += " " * (-size % 64) + "\n"
    return b"\x93NUMPY\1\0" + struct.pack("<H", len(text)) + text.encode("ascii")


def _little(values):
    if sys.byteorder == "big":
        values.byteswap()
    return values.tobytes()


def _write_words(stream, words, n_rows):
    """A column of numbers (integers as int64) or of text; `words` is called for each pass."""
    whole = numeric = True
    longest = 1
    for text in words():
        whole &= text.lstrip("+-").isdigit() and abs(int(text)) < 2**63
        numeric &= is_number(text)
        longest = max(longest, len(text))
    if whole or numeric:
        stream.write(_head("<i8" if whole else "<f8", (n_rows,)))
        for text in words():
            stream.write(struct.pack("<q", int(text)) if whole else struct.pack("<d", float(text)))
        return
    stream.write(_head(f"<U{longest}", (n_rows,)))
    for text in words():
        stream.write(text.encode("utf-32-le", "surrogatepass").ljust(4 * longest, b"\0"))


def write_npy(reader, survey, outputs, options):
    """Writes features as a C-ordered array of doubles (--single: floats); labels as a column of numbers or
    words, or 0 and 1 for each of several labels; queries as a column."""
    survey.dense(reader)
    if survey.has_label and not options.labels_file:
        refuse("rows have labels: --labels-file FILE is needed for them", reader.path)
    if survey.has_query and not options.query_file:
        refuse("rows have queries: --query-file FILE is needed for them", reader.path)
    stream = outputs.binary(options.output)
    code = "f" if options.single else "d"
    stream.write(_head("<f4" if options.single else "<f8", (survey.n_rows, survey.n_features)))
    for _, row in reader.rows():
        values = array.array(code, bytes(survey.n_features * struct.calcsize(code)))
        for index, value in row.features:
            values[index - 1] = float(value)
        stream.write(_little(values))
    if survey.has_label:
        _write_labels(reader, survey, outputs, options)
    if survey.has_query:
        for line, row in reader.rows():
            if row.query is None:
                refuse("row without a query among rows that have one", reader.path, line)
        _write_words(outputs.binary(options.query_file),
                     lambda: (row.query for _, row in reader.rows()), survey.n_rows)


def _write_labels(reader, survey, outputs, options):
    stream = outputs.binary(options.labels_file)
    known = reader.label_names or []
    if survey.several or known:
        if not options.label_names:
            refuse("rows have several labels: --label-names FILE is needed for the names of the "
                   "columns", reader.path)
        names = known + [label for label in survey.labels if label not in known]
        stream.write(_head("|u1", (survey.n_rows, len(names))))
        for _, row in reader.rows():
            have = set(row.labels)
            stream.write(bytes(name in have for name in names))
        outputs.text(options.label_names).write("".join(name + "\n" for name in names))
        return
    for line, row in reader.rows():
        if not row.label:
            refuse("row without a label among rows that have one: " + quoted(row.comment),
                   reader.path, line)
    _write_words(stream, lambda: (row.label for _, row in reader.rows()), survey.n_rows)
