"""svmlight text, and the variant of LETOR and MSLR: every feature is written, NULL is a missing value, and
`#docid = NAME inc = ...` follows the row."""
import re

from lib.number import is_number
from lib.svmlight import Rules, format_row, matrix_shape, read_rows
from lib.tool import quoted, refuse, say, shown

DOCUMENT = re.compile(r"docid\s*=\s*(\S+)\s*(.*)$")


class SvmlightReader:
    """Reads rows without changes."""

    label_names = None

    def __init__(self, source, options):
        self.source, self.path = source, source.path
        self.feature_names = None
        self.shape = matrix_shape(source)
        self.doubted = False
        self.rules = Rules(options.zero_based, options.sort, options.missing, options.missing_words)

    def rows(self):
        yield from read_rows(self.source, self.rules)
        rules = self.rules
        if rules.zero_based and not rules.has_zero and not self.doubted:
            say(f"{shown(self.path)}: no index is 0: are its indices zero-based?")
        elif rules.says_zero_based and not rules.zero_based and not self.doubted:
            say(f"{shown(self.path)}: a comment says zero-based: --zero-based shifts indices")
        self.doubted = True  # once, however often rows are read


class LetorReader(SvmlightReader):
    """The document's name becomes the first word of the comment."""

    def rows(self):
        for line, row in super().rows():
            if row.query is None:
                refuse("row has no qid", self.path, line)
            if not is_number(row.label):
                refuse("relevance is not a number: " + quoted(row.label), self.path, line)
            match = DOCUMENT.match(row.comment)
            comment = f"{match.group(1)} {match.group(2)}".strip() if match else row.comment
            features = [pair for pair in row.features if float(pair[1]) != 0]
            yield line, row._replace(comment=comment, features=features)


def write_svmlight(reader, outputs, options):
    """Writes rows as they come; the shape of matrices goes to the first line."""
    write = outputs.text(options.output).write
    shape = options.shape or reader.shape
    if shape:
        write(f"# matrix {shape[0]} {shape[1]}\n")
    n = 0
    for line, row in reader.rows():
        if shape and row.features and row.features[-1][0] > shape[0] * shape[1]:
            refuse(f"index {row.features[-1][0]} is outside {shape[0]} x {shape[1]} matrices",
                   reader.path, line)
        write(format_row(row) + "\n")
        n += 1
    if n == 0:
        refuse("has no rows", reader.path)


def write_letor(reader, survey, outputs, options):
    """Writes every feature, and the first word of the comment as the document's name."""
    survey.dense(reader)
    write = outputs.text(options.output).write
    for line, row in reader.rows():
        if row.query is None:
            refuse("row has no qid", reader.path, line)
        if not is_number(row.label):
            refuse("relevance is not a number: " + quoted(row.label), reader.path, line)
        values = ["0"] * survey.n_features
        for index, value in row.features:
            values[index - 1] = value
        cells = " ".join(f"{index}:{value}" for index, value in enumerate(values, 1))
        comment = f" #docid = {row.comment}" if row.comment else ""
        write(f"{row.label} qid:{row.query} {cells}{comment}\n")
