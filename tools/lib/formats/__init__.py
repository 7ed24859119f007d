"""Data formats that `convert` reads and writes, one module each.

A reader has rows(), which yields (line, Row) from the beginning whenever it is called, and then
feature_names and label_names where the format has them (None where it has not), and shape, the
rows and columns of matrices or None. A writer is a function of the reader, a survey of its rows
where it must know how many there are, the outputs and the options.
"""
from lib.number import is_number
from lib.tool import refuse

MOST_COLUMNS = 1000000  # of dense outputs


class Survey:
    """Properties of all rows that must be known before the first is written: one pass, whose memory
    grows with the distinct labels only."""

    def __init__(self, reader):
        self.n_rows = self.n_features = 0
        self.has_query = self.has_comment = self.has_label = self.several = False
        labels = {}
        for line, row in reader.rows():
            if row.serial is not None:
                refuse("a row of a precomputed kernel (0:serial) cannot be converted",
                       reader.path, line)
            self.n_rows += 1
            if row.features:
                self.n_features = max(self.n_features, row.features[-1][0])
            self.has_query |= row.query is not None
            self.has_comment |= bool(row.comment)
            self.has_label |= bool(row.label)
            if "," in row.label:
                self.several = True
            for label in row.labels:
                labels[label] = None
        self.labels = sorted(labels, key=label_order)
        if self.n_rows == 0:
            refuse("has no rows", reader.path)
        if reader.feature_names is not None:
            self.n_features = max(self.n_features, len(reader.feature_names))

    def names(self, reader, given):
        """A name for each feature: the given ones, else the reader's, else f1, f2, ..."""
        names = given if given is not None else reader.feature_names
        if names is None:
            return [f"f{index}" for index in range(1, self.n_features + 1)]
        if len(names) < self.n_features:
            refuse(f"feature {self.n_features} has no name: there are {len(names)} names",
                   reader.path)
        self.n_features = len(names)
        return names

    def dense(self, reader):
        """Refuses too many features for a format that lists all of them."""
        if self.n_features > MOST_COLUMNS:
            refuse(f"{self.n_features} columns are too many for this format "
                   f"(at most {MOST_COLUMNS})", reader.path)


def label_order(label):
    """Numbers by value, then words by their bytes."""
    number = is_number(label)
    return not number, float(label) if number else 0, label
