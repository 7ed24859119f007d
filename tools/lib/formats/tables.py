"""CSV and TSV with a header of column names."""
import csv

from lib.formats.layout import Layout, listed
from lib.number import is_number
from lib.tool import quoted, refuse, say, shown

csv.field_size_limit(1 << 30)
USUAL_LABEL, USUAL_QUERY, USUAL_NAMES = "label", "qid", "comment"


def delimiter_of(line):
    """The most frequent separator of a header, outside quotes."""
    outside = "".join(line.split('"')[::2])
    return max("\t,;|", key=lambda c: (outside.count(c), c == ","))


class Records:
    """The header of a table, and its records: `columns`, and (line, fields) of each. quotes: fields may stand
    in quotes."""

    def __init__(self, source, delimiter=None, tabs=False, header=True, quotes=True):
        self.source, self.path, self.header = source, source.path, header
        self.quoting = csv.QUOTE_MINIMAL if quotes else csv.QUOTE_NONE
        first = next(self._lines(), None)
        if first is None:
            refuse("is empty", self.path)
        self.delimiter = delimiter or ("\t" if tabs else delimiter_of(first))
        columns = [field.strip() for field in next(self._all())[1]]
        if not header:
            columns = [str(i) for i in range(1, len(columns) + 1)]
        for i, column in enumerate(columns):
            if not column:
                columns[i] = f"column{i + 1}"  # as pandas leaves its index, without a name
        if len(set(columns)) < len(columns):
            twice = next(column for column in columns if columns.count(column) > 1)
            refuse(f"two columns are named '{twice}'", self.path, 1)
        self.columns = columns

    def _lines(self):
        for _, line in self.source.lines():
            yield line + "\n"

    def _all(self):
        records = csv.reader(self._lines(), delimiter=self.delimiter, strict=True, quoting=self.quoting)
        line = 1
        while True:
            try:
                fields = next(records)
            except StopIteration:
                return
            except csv.Error as error:
                refuse(f"not {'TSV' if self.delimiter == chr(9) else 'CSV'}: {error}",
                       self.path, line)
            if fields:
                yield line, fields
            line = records.line_num + 1

    def rows(self):
        """The records without the header, with a field for each column."""
        records, n = self._all(), len(self.columns)
        if self.header:
            next(records)
        for line, fields in records:
            if len(fields) != n:
                refuse(f"{len(fields)} fields for {n} columns", self.path, line)
            yield line, fields

    def listed(self):
        return listed(self.columns)


class Decimals:
    """Numbers with decimal commas become such with points, if --decimal-comma is given or, with a note in
    report(), if the delimiter is ; or a tab."""

    def __init__(self, records, given):
        self.path, self.given = records.path, given
        self.possible = given or records.delimiter in ";\t"
        self.comma = self.point = None  # (line, text) of the first number

    def __call__(self, text, line):
        converted = text.replace(",", ".")
        if not self.possible or not is_number(converted):
            return text
        if self.comma is None and converted != text:
            self.comma = line, text
        if self.point is None and "." in text:
            self.point = line, text
        if self.comma and self.point and not self.given:
            refuse(f"are decimals {quoted(self.comma[1])} or, as in line {self.point[0]}, "
                   f"{quoted(self.point[1])}? (see --decimal-comma)", self.path, self.comma[0])
        return converted

    def report(self):
        if self.comma and not self.given:
            line, text = self.comma
            say(f"{shown(self.path)}:{line}: {quoted(text)} is read as {text.replace(',', '.')}")


class TableReader:
    """Reads rows of a table; columns `label`, `qid` and `comment` have these meanings unless options differ."""

    shape = None

    def __init__(self, source, options):
        self.path, self.options, self.layout = source.path, options, None
        self.records = Records(source, options.delimiter, options.source == "tsv",
                               not options.no_header)
        self.columns = self.records.columns
        self._usual()

    def _usual(self):
        options, columns = self.options, self.columns
        if not options.label and not options.unlabelled:
            if USUAL_LABEL not in columns:
                refuse("which column is the label? --label COLUMN, or --unlabelled "
                       f"(columns: {self.records.listed()})", self.path, 1)
            options.label = [USUAL_LABEL]
        if not options.query and USUAL_QUERY in columns and USUAL_QUERY not in options.drop:
            options.query = USUAL_QUERY
        if not options.names and USUAL_NAMES in columns and USUAL_NAMES not in options.drop:
            options.names = [USUAL_NAMES]

    def rows(self):
        self.layout = Layout(self.columns, self.options, self.path)
        for line, fields in self.records.rows():
            row = self.layout.row(fields, line)
            if row is not None:
                yield line, row

    @property
    def feature_names(self):
        return self.layout.feature_names if self.layout else None

    @property
    def label_names(self):
        return self.layout.label_names if self.layout else None


def write_table(reader, survey, outputs, options):
    """Writes label, query, all features including zeros, and comment."""
    survey.dense(reader)
    names = survey.names(reader, options.given_names)
    header = ([USUAL_LABEL] if survey.has_label else []) + \
        ([USUAL_QUERY] if survey.has_query else []) + names + \
        ([USUAL_NAMES] if survey.has_comment else [])
    if len(set(header)) < len(header):
        refuse("two columns would be named "
               + quoted(next(name for name in header if header.count(name) > 1)), reader.path)
    delimiter = options.delimiter or ("\t" if options.target == "tsv" else ",")
    table = csv.writer(outputs.text(options.output), delimiter=delimiter, lineterminator="\n")
    table.writerow(header)
    for _, row in reader.rows():
        fields = ["0"] * survey.n_features
        for index, value in row.features:
            fields[index - 1] = value
        table.writerow(([row.label] if survey.has_label else [])
                       + ([row.query or ""] if survey.has_query else []) + fields
                       + ([row.comment] if survey.has_comment else []))
