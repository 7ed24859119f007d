"""Tab-separated tables with a header line, from the programs and from users."""
from lib.files import Source
from lib.number import is_number
from lib.tool import quoted, refuse


class Table:
    """The header is read at once, rows on demand. Empty lines and lines that begin with # are skipped.
    blanks: if the header has no tab, any blanks separate fields. header: the only columns that are allowed, of what."""

    def __init__(self, path, blanks=False, header=None, what=None):
        self.path = path
        self.source = Source(path)
        first = next(self._lines(), None)
        if first is None:
            refuse("is empty", path)
        self.line, text = first
        self.separator = None if blanks and "\t" not in text else "\t"
        self.columns = text.split(self.separator)
        if header is not None and self.columns != header:
            refuse(f"not {what} ({' '.join(header)})", path, self.line)
        if len(set(self.columns)) < len(self.columns):
            twice = next(c for c in self.columns if self.columns.count(c) > 1)
            refuse(f"two columns are named '{twice}'", path, self.line)

    def _lines(self):
        for line, text in self.source.lines():
            if text.strip() and not text.startswith("#"):
                yield line, text

    def rows(self, skip=None):
        """(line, fields), one for each column, without lines whose first field matches `skip`."""
        lines = self._lines()
        next(lines)
        for line, text in lines:
            fields = text.split(self.separator)
            if skip and skip.match(fields[0]):
                continue
            if len(fields) != len(self.columns):
                refuse(f"{len(fields)} fields for {len(self.columns)} columns", self.path, line)
            yield line, fields

    def column(self, name):
        if name not in self.columns:
            refuse(f"there is no column '{name}' (columns: {', '.join(self.columns)})",
                   self.path, self.line)
        return self.columns.index(name)

    def number(self, fields, name, line):
        """The number in a column; empty is an error."""
        text = fields[self.column(name)]
        if not is_number(text):
            refuse(f"{name}: not a number: {quoted(text)}", self.path, line)
        return float(text)
