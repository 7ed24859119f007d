"""Properties of a training file from which settings are chosen."""
from lib.files import Source
from lib.svmlight import matrix_shape, query_key, read_rows
from lib.tool import refuse

LOOKED_AT = 20000  # rows from which scaling and gamma are chosen
GRADES = 10  # whole labels of rank up to this are grades


class Facts:
    """Properties of the first rows."""

    def __init__(self, path):
        source = Source(path)
        self.has_shape = matrix_shape(source) is not None
        self.serials = False
        self.n_rows = self.n_features = values = 0
        self.low, self.high, self.whole = 0.0, 0.0, True
        total = squares = 0.0
        self.labels = {}  # rows by label
        self.queries, self.grades = {}, True
        self.pairs, self.gains = 0, 0  # of rows of one query with different grades; what they gain
        for _, row in read_rows(source):
            self.n_rows += 1
            self.serials |= row.serial is not None
            self.queries.setdefault(query_key(row.query), {})
            self.labels[row.label] = self.labels.get(row.label, 0) + 1
            self._look_at_label(row)
            if row.features:
                self.n_features = max(self.n_features, row.features[-1][0])
            if self.n_rows > LOOKED_AT:
                continue
            values += len(row.features)
            for _, text in row.features:
                value = float(text)
                self.low, self.high = min(self.low, value), max(self.high, value)
                total, squares = total + value, squares + value * value
                self.whole &= value == int(value)
        if self.n_rows == 0:
            refuse("has no rows", path)
        looked_at = min(self.n_rows, LOOKED_AT)
        cells = looked_at * max(1, self.n_features)
        self.density = values / cells
        self.variance = squares / cells - (total / cells) ** 2  # of all values, with zeros

    def _look_at_label(self, row):
        """Whether labels are grades, and how many pairs of them differ within queries."""
        self.grades &= row.label.isascii() and row.label.isdigit() and int(row.label) <= GRADES
        if self.grades:
            rows = self.queries[query_key(row.query)]
            grade = int(row.label)
            self.pairs += sum(n for other, n in rows.items() if other != grade)
            self.gains += sum(n * abs(2 ** grade - 2 ** other) for other, n in rows.items())
            rows[grade] = rows.get(grade, 0) + 1

    @property
    def counts(self):
        """Counts of substructures or words: integers of 0 or more, mostly 0."""
        return self.whole and self.low >= 0 and self.density < 0.5
