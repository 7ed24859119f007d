"""Converts records with named columns (CSV, ARFF) to rows: the columns of label, query and features, and
the treatment of missing values."""
import fnmatch

from lib.files import encoding
from lib.number import fault_of_value
from lib.svmlight import Row, Words
from lib.tool import quoted, refuse

MISSING_WORDS = "?,NA,N/A,NaN,nan,NULL,null,None"
NO = {"0", "0.0", "false", "no"}
YES = {"1", "1.0", "true", "yes"}


def listed(columns):
    """Names of columns in an error. Bytes that are not UTF-8 are surrogates."""
    odd = any("\udc80" <= c <= "\udcff" for column in columns for c in column)
    return ", ".join(columns[:12]) + (", ..." if len(columns) > 12 else "") + \
        ("; not UTF-8: see --encoding" if odd else "")


def choose(columns, wanted, option, path):
    """Numbers of the columns that an option names: a name, several separated by commas, or a pattern
    with * or ?. A name that no column has is that of the only column which differs in case."""
    chosen = []
    for text in wanted:
        for name in [text] if text in columns else text.split(","):
            if name in columns:
                matches = [columns.index(name)]
            elif set("*?[") & set(name):
                matches = [i for i, column in enumerate(columns) if fnmatch.fnmatchcase(column, name)]
            else:
                matches = [i for i, column in enumerate(columns) if column.lower() == name.lower()]
                matches = matches if len(matches) == 1 else []
            if not matches:
                refuse(f"{option}: there is no column {quoted(name)} (columns: {listed(columns)})", path, 1)
            chosen += [i for i in matches if i not in chosen]
    return chosen


# ---- missing values ----


def missing_words(text):
    """The texts of a missing value, for --missing-words: words separated by commas, and the empty text."""
    return ["", *text.split(",")]


def add_label_options(group):
    """Options of tables for a missing label, and for the encoding of the text."""
    group.add_argument("--missing-label", choices=("error", "skip", "none"), default="error",
                       help="a missing label: error (default), skip the row, or none")
    group.add_argument("--encoding", type=encoding, metavar="NAME",
                       help="of the text, such as cp1252 or utf-16 (default UTF-8)")


def known_label(text, column, options, path, line):
    """The label; if it is missing, by --missing-label "", or None for a row that is omitted."""
    if text not in options.missing_words:
        return text
    if options.missing_label == "error":
        refuse(f"column '{column}': label is missing (see --missing-label)", path, line)
    return "" if options.missing_label == "none" else None


def _hint(text, comma):
    """The options for a text that is not a number."""
    if not comma and fault_of_value(text.replace(",", ".")) is None:
        return "; see --decimal-comma"
    missing = not text[:1].isalnum()
    return f"; see {'--missing-words, ' if missing else ''}--categorical, --drop"


class Layout:
    """How a record becomes a row.

    nominal: {column number: its values} of columns that the format declares as categories;
    default: the value of a column that a sparse record leaves out, by number, "0" elsewhere.
    """

    def __init__(self, columns, options, path, labels=None, nominal=None, default=None):
        self.columns, self.options, self.path = columns, options, path
        self.default = default or {}
        self.n_omitted = 0
        self.missing = set(options.missing_words)
        self._choose(labels, nominal or {})
        self._index_features()
        # columns that every record must have, also a sparse one
        self.sure = sorted({*self.labels, *self.names, *self.categorical,
                            *([] if self.query is None else [self.query])})
        self._label, self._query = Words("label"), Words("query")
        self._value = [Words(f"category of column '{column}'") for column in columns]
        self.label_names = None
        if len(self.labels) > 1:
            self.label_names = [self._label(columns[i], path, 1) for i in self.labels]

    def _choose(self, labels, nominal):
        columns, options, path = self.columns, self.options, self.path
        self.labels = labels if labels is not None else \
            choose(columns, options.label, "--label", path)
        query = choose(columns, [options.query] if options.query else [], "--query", path)
        if len(query) > 1:
            refuse("--query: one column is expected", path, 1)
        self.query = query[0] if query else None
        self.names = choose(columns, options.names, "--names", path)
        taken = set(self.labels) | set(query)
        overlap = taken & set(self.names) or set(self.labels) & set(query)
        dropped = set(choose(columns, options.drop, "--drop", path))
        overlap |= dropped & (taken | set(self.names))
        if overlap:
            refuse(f"column '{columns[min(overlap)]}' is named by two options", path, 1)
        if options.features:
            features = choose(columns, options.features, "--features", path)
        else:
            apart = taken | set(self.names) | dropped
            features = [i for i in range(len(columns)) if i not in apart]
        features = [i for i in features if i not in taken and i not in dropped]
        categorical = set(choose(columns, options.categorical, "--categorical", path)) | set(nominal)
        self.numeric = [i for i in features if i not in categorical]
        self.categorical = [i for i in features if i in categorical]

    def _index_features(self):
        """Indices of the numeric columns, then of categories in order of occurrence; or those of --like."""
        self.fixed = self.options.like_names
        if self.fixed is None:
            self.feature_names = [self.columns[i] for i in self.numeric]
            self.index = {column: place for place, column in enumerate(self.numeric, 1)}
        else:
            self._match_fixed()
        self.category = {name: i for i, name in enumerate(self.feature_names, 1)} \
            if self.fixed is not None else {}

    def _match_fixed(self):
        place = {name: i for i, name in enumerate(self.fixed, 1)}
        of_categories = {name.split("=", 1)[0] for name in self.fixed if "=" in name}
        candidates = self.numeric + self.categorical
        self.index = {i: place[self.columns[i]] for i in candidates if self.columns[i] in place}
        self.numeric = sorted(self.index, key=self.index.get)
        self.categorical = [i for i in candidates
                            if i not in self.index and self.columns[i] in of_categories]
        have = {self.columns[i] for i in self.numeric + self.categorical}
        for name in self.fixed:
            if name not in have and name.split("=", 1)[0] not in have:
                refuse(f"there is no column '{name}', which --like has", self.path, 1)
        self.feature_names = list(self.fixed)

    def row(self, fields, line):
        """The Row of a record, a list of all fields or a dict of some; None if it is omitted, which is
        counted."""
        row = self._row(fields, line)
        self.n_omitted += row is None
        return row

    def _row(self, fields, line):
        sparse = isinstance(fields, dict)
        if sparse:
            for i in self.sure:
                fields.setdefault(i, self.default.get(i, "0"))
            for i, text in self.default.items():
                fields.setdefault(i, text)
        features = self._numbers(fields, line, sparse)
        if features is None or not self._categories(fields, line, features):
            return None
        label = self._label_of(fields, line)
        if label is None:
            return None
        query = None
        if self.query is not None:
            query = self._query(fields[self.query], self.path, line)
        comment = " ".join(" ".join(fields[i].split()) for i in self.names)
        return Row(label, query, features, comment)

    def _is_missing(self, text):
        return text in self.missing or text.strip() in self.missing

    def _fill(self, column, line):
        """The text for a missing value, or None if the row is omitted."""
        policy = self.options.missing
        if policy == "error":
            refuse(f"column '{self.columns[column]}': value is missing (see --missing)",
                   self.path, line)
        return None if policy == "skip" else policy

    def _numbers(self, fields, line, sparse):
        features = []
        columns = self.numeric
        if sparse:
            columns = sorted((i for i in fields if i in self.index), key=self.index.get)
        comma = self.options.decimal_comma
        for i in columns:
            text = fields[i].strip()
            if text == "0":
                continue
            if text in self.missing:
                text = self._fill(i, line)
                if text is None:
                    return None
            given = text
            if comma:
                text = text.replace(",", ".")
            fault = fault_of_value(text)
            if fault:
                hint = _hint(given, comma) if fault.endswith("not a number") else ""
                refuse(f"column '{self.columns[i]}': {fault}: {quoted(given)}{hint}",
                       self.path, line)
            if float(text) != 0:
                features.append((self.index[i], text))
        return features

    def _categories(self, fields, line, features):
        """Adds the features of categories; false if the row is omitted."""
        before = len(features)
        for i in self.categorical:
            text = fields[i].strip()
            if self._is_missing(text):
                if self._fill(i, line) is None:
                    return False
                continue
            name = f"{self.columns[i]}={self._value[i](text, self.path, line)}"
            index = self.category.get(name)
            if index is None and self.fixed is None:
                self.feature_names.append(name)
                index = self.category[name] = len(self.feature_names)
            elif index is None:
                if self.options.unknown == "error":
                    refuse(f"column '{self.columns[i]}': {quoted(text)} is not in the names of "
                           "--like (see --unknown)", self.path, line)
                continue
            features.append((index, "1"))
        if len(features) > before:
            features.sort()
        return True

    def _label_of(self, fields, line):
        """The text of the label, or None if the row is omitted."""
        if len(self.labels) > 1:
            return self._indicated(fields, line)
        if not self.labels:
            return ""
        column = self.labels[0]
        text = fields[column].strip()
        if self._is_missing(text):
            if self.options.label_separator and not text:
                return ""
            return known_label(text, self.columns[column], self.options, self.path, line)
        if self.options.label_separator:
            parts = [self._label(part, self.path, line)
                     for part in text.split(self.options.label_separator)]
            if len(set(parts)) < len(parts):
                refuse("label is given twice: " + quoted(text), self.path, line)
            return ",".join(parts)
        if self.options.decimal_comma:
            text = text.replace(",", ".")
        return self._label(text, self.path, line)

    def _indicated(self, fields, line):
        """Several label columns: the names of those with a 1."""
        have = []
        for i, name in zip(self.labels, self.label_names):
            text = fields[i].strip().lower()
            if text not in NO and text not in YES:
                refuse(f"label column '{self.columns[i]}': 0 or 1 is expected: {quoted(text)}",
                       self.path, line)
            if text in YES:
                have.append(name)
        return ",".join(have)
