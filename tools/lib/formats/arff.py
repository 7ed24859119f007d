"""ARFF, dense and sparse (Weka's attribute-relation format), and MULAN's XML of label names."""
import re
import xml.etree.ElementTree as xml

from lib.files import Source
from lib.formats.layout import Layout, choose
from lib.number import is_number
from lib.tool import quoted, refuse

QUOTED = r"'((?:\\.|[^'\\])*)'|\"((?:\\.|[^\"\\])*)\""
ATTRIBUTE = re.compile(r"@attribute\s+(?:" + QUOTED + r"|([^\s{'\"]+))\s*(.+?)\s*$", re.I)
FIELD = re.compile(r"\s*(?:" + QUOTED + r"|([^,'\"\s]*(?:\s+[^,'\"\s]+)*))\s*(,|$)")
ITEM = re.compile(r"\s*([0-9]+)\s+(?:" + QUOTED + r"|([^,'\"\s]+))\s*(,|$)", re.ASCII)
NUMERIC = ("numeric", "real", "integer")
MEKA = re.compile(r"-C\s+(-?[0-9]+)", re.ASCII)


def unescaped(match, first):
    """The text of one of three groups: in single quotes, in double ones, bare."""
    for group in (first, first + 1):
        if match.group(group) is not None:
            return re.sub(r"\\(.)", r"\1", match.group(group))
    return match.group(first + 2)


def fields_of(text, path, line):
    """The fields of a dense record, or of a list of values."""
    fields, at = [], 0
    while True:
        match = FIELD.match(text, at)
        if not match:
            refuse("quotes that do not end, or text behind them: " + quoted(text[at:]), path, line)
        fields.append(unescaped(match, 1))
        at = match.end()
        if match.group(4) != ",":
            return fields


def labels_of_xml(path):
    """The names of MULAN's labels, including nested ones."""
    try:
        with Source(path).open() as stream:
            root = xml.parse(stream).getroot()
    except xml.ParseError as error:
        refuse(f"not XML: {error}", path)
    names = [label.get("name") for label in root.iter()
             if label.tag.rsplit("}", 1)[-1] == "label"]
    if not names or None in names:
        refuse("has no labels: <labels><label name=\"...\"/></labels> is expected", path)
    return names


class ArffReader:
    """Rows of an ARFF file. Nominal attributes whose values are numbers are numbers, others become
    a feature for each value."""

    def __init__(self, source, options):
        self.source, self.path, self.options = source, source.path, options
        self.shape = None
        self.layout = None
        self.columns, self.kinds = [], []  # kinds: None numeric, a list of values, or the type
        self.relation, self.data_line = "", 0
        self._read_head()
        if not self.data_line:
            refuse("has no @data", self.path)
        self.labels = self._labels()

    def _read_head(self):
        for line, text in self.source.lines():
            text = text.strip()
            lower = text.lower()
            if not text or text.startswith("%"):
                continue
            if lower.startswith("@relation"):
                self.relation = text[9:].strip()
            elif lower.startswith("@attribute"):
                self._add_attribute(text, line)
            elif lower.startswith("@data"):
                self.data_line = line
                return
            else:
                refuse("@attribute or @data is expected: " + quoted(text), self.path, line)

    def _add_attribute(self, text, line):
        match = ATTRIBUTE.match(text)
        if not match:
            refuse("@attribute NAME TYPE is expected: " + quoted(text), self.path, line)
        name, kind = unescaped(match, 1), match.group(4)
        if name in self.columns:
            refuse(f"two attributes are named '{name}'", self.path, line)
        self.columns.append(name)
        if kind.startswith("{"):
            if not kind.endswith("}"):
                refuse("no } at the end of the values", self.path, line)
            self.kinds.append(fields_of(kind[1:-1], self.path, line))
        elif kind.lower() in NUMERIC:
            self.kinds.append(None)
        elif kind.lower().split()[0] in ("string", "date"):
            self.kinds.append(kind.lower().split()[0])
        else:
            refuse("attribute's type is not known: " + quoted(kind), self.path, line)

    def _labels(self):
        """Numbers of the label attributes: by MULAN's XML, by --label, by MEKA's -C, else the last."""
        options, columns = self.options, self.columns
        if options.labels_xml:
            names = labels_of_xml(options.labels_xml)
            for name in names:
                if name not in columns:
                    refuse(f"label '{name}' is no attribute of {self.path}", options.labels_xml)
            return [columns.index(name) for name in names]
        if options.unlabelled:
            return []
        if options.label:
            return choose(columns, options.label, "--label", self.path)
        meka = MEKA.search(self.relation)
        if meka:
            n = int(meka.group(1))
            if not 0 < abs(n) <= len(columns):
                refuse(f"-C {n} for {len(columns)} attributes", self.path, 1)
            return list(range(n)) if n > 0 else list(range(len(columns) + n, len(columns)))
        return [len(columns) - 1]

    def _layout(self):
        nominal, default = {}, {}
        for i, kind in enumerate(self.kinds):
            if isinstance(kind, list):
                if not all(map(is_number, kind)) and i not in self.labels:
                    nominal[i] = kind
                if kind[0] != "0":
                    default[i] = kind[0]
        layout = Layout(self.columns, self.options, self.path, self.labels, nominal, default)
        for i in layout.numeric:
            if isinstance(self.kinds[i], str):
                refuse(f"attribute '{self.columns[i]}' is a {self.kinds[i]}: see --drop, --names, "
                       "--categorical", self.path)
        return layout

    def rows(self):
        self.layout = self._layout()
        values = [set(kind) if isinstance(kind, list) else None for kind in self.kinds]
        for line, text in self.source.lines():
            text = text.strip()
            if line <= self.data_line or not text or text.startswith("%"):
                continue
            if text.startswith("{"):
                fields = self._sparse(text, line)
                given = fields.items()
            else:
                fields = fields_of(text, self.path, line)
                if len(fields) != len(self.columns):
                    refuse(f"{len(fields)} fields for {len(self.columns)} attributes",
                           self.path, line)
                given = enumerate(fields)
            for i, field in given:
                if values[i] is not None and field not in values[i] and field != "?":
                    refuse(f"attribute '{self.columns[i]}' has no value {quoted(field)}",
                           self.path, line)
            row = self.layout.row(fields, line)
            if row is not None:
                yield line, row

    def _sparse(self, text, line):
        if not text.endswith("}"):
            refuse("no } at the end of a sparse row", self.path, line)
        fields, at, text = {}, 0, text[1:-1]
        while text.strip():
            match = ITEM.match(text, at)
            if not match:
                refuse("'INDEX VALUE' is expected: " + quoted(text[at:]), self.path, line)
            column = int(match.group(1)) if len(match.group(1)) < 20 else len(self.columns)
            if column >= len(self.columns):
                refuse(f"index {match.group(1)[:20]} for {len(self.columns)} attributes "
                       "(they count from 0)", self.path, line)
            if column in fields:
                refuse(f"index {column} is given twice", self.path, line)
            fields[column] = unescaped(match, 2)
            at = match.end()
            if match.group(5) != ",":
                break
        return fields

    @property
    def feature_names(self):
        return self.layout.feature_names if self.layout else None

    @property
    def label_names(self):
        return self.layout.label_names if self.layout else None


def name_of(text):
    """A name or value as ARFF writes it."""
    if re.fullmatch(r"[A-Za-z0-9_.+-]+", text):
        return text
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"


def write_arff(reader, survey, outputs, options):
    """Writes query, features, then the label, or a {0,1} attribute for each of several labels, which the XML
    then lists. Labels are nominal unless --numeric-label."""
    survey.dense(reader)  # also for sparse rows: each feature is an attribute
    names = survey.names(reader, options.given_names)
    known = reader.label_names or []
    several = survey.several or len(known) > 1 or bool(options.labels_xml)
    if several and not options.labels_xml:
        refuse("rows have several labels: --labels-xml FILE is needed for their names", reader.path)
    labels = known + [label for label in survey.labels if label not in known]
    if options.numeric_label:
        for label in labels:
            if several or not is_number(label):
                refuse("--numeric-label: label is not a number: " + quoted(label), reader.path)
    with_label = survey.has_label or several
    write = outputs.text(options.output).write
    write("@relation rows\n\n")
    attributes = (["qid"] if survey.has_query else []) + names
    tail = labels if several else ["label"] if with_label else []
    if len(set(attributes + tail)) < len(attributes + tail):
        refuse("two attributes would have one name", reader.path)
    for name in attributes:
        write(f"@attribute {name_of(name)} "
              + ("string" if name == "qid" and survey.has_query else "numeric") + "\n")
    for name in tail:
        kind = "{0,1}" if several else "numeric" if options.numeric_label else \
            "{" + ",".join(map(name_of, labels)) + "}"
        write(f"@attribute {name_of(name)} {kind}\n")
    write("\n@data\n")
    for _, row in reader.rows():
        items = [(0, name_of(row.query or "?"))] if survey.has_query else []
        shift = len(items) - 1
        items += [(index + shift, value) for index, value in row.features]
        if several:
            have = set(row.labels)
            marks = [(len(attributes) + i, "1" if label in have else "0")
                     for i, label in enumerate(labels)]
            items += [mark for mark in marks if mark[1] == "1"] if options.sparse else marks
        elif with_label:
            items.append((len(attributes), name_of(row.label) if row.label else "?"))
        if options.sparse:
            write("{" + ",".join(f"{i} {text}" for i, text in items) + "}\n")
        else:
            fields = ["0"] * (len(attributes) + len(tail))
            for i, text in items:
                fields[i] = text
            write(",".join(fields) + "\n")
    if several:
        from xml.sax.saxutils import quoteattr # with all of urllib: as long as the rest of a start
        write = outputs.text(options.labels_xml).write
        write('<?xml version="1.0" encoding="utf-8"?>\n'
              '<labels xmlns="http://mulan.sourceforge.net/labels">\n')
        for label in labels:
            write(f"<label name={quoteattr(label)}></label>\n")
        write("</labels>\n")
