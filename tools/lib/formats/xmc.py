"""The text of the Extreme Classification Repository: a header ROWS FEATURES LABELS, then rows
LABEL,LABEL INDEX:VALUE ... whose labels and indices count from 0."""
from lib.number import fault_of_value
from lib.svmlight import Row, Words, is_index
from lib.tool import quoted, refuse


class XmcReader:
    """Reads rows; labels stay numbers from 0, or become the lines of --label-names."""

    feature_names = None
    shape = None

    def __init__(self, source, options):
        self.source, self.path = source, source.path
        first = next(source.lines(), (1, ""))[1].split()
        if len(first) != 3 or not all(map(is_index, first)):
            refuse("a header 'ROWS FEATURES LABELS' is expected: " + quoted(" ".join(first)),
                   self.path, 1)
        self.n_rows, self.n_features, self.n_labels = map(int, first)
        self.label_names = options.given_labels
        if self.label_names is not None and len(self.label_names) != self.n_labels:
            refuse(f"{len(self.label_names)} names for {self.n_labels} labels", options.label_names)

    def _label(self, text, words, line):
        parts = text.split(",")
        for part in parts:
            if not is_index(part) or int(part) >= self.n_labels:
                refuse(f"label is not a number from 0 to {self.n_labels - 1}: {quoted(part)}",
                       self.path, line)
        if len(set(map(int, parts))) < len(parts):
            refuse("label is given twice: " + quoted(text), self.path, line)
        if self.label_names is None:
            return text
        return ",".join(words(self.label_names[int(part)], self.path, line) for part in parts)

    def _features(self, parts, line):
        features = []
        for part in parts:
            name, colon, value = part.partition(":")
            if not colon or not is_index(name) or len(name) > 19 or int(name) >= self.n_features:
                refuse(f"INDEX:VALUE with INDEX from 0 to {self.n_features - 1} is expected: "
                       + quoted(part), self.path, line)
            fault = fault_of_value(value)
            if fault:
                refuse(f"{fault}: {quoted(part)}", self.path, line)
            if float(value) != 0:
                features.append((int(name) + 1, value))
        features.sort(key=lambda feature: feature[0])
        for one, next_one in zip(features, features[1:]):
            if one[0] == next_one[0]:
                refuse(f"index {one[0] - 1} is given twice", self.path, line)
        return features

    def rows(self):
        words = Words("label")
        n = line = 0
        for line, text in self.source.lines():
            if line == 1:
                continue
            if not text and n == self.n_rows:
                continue  # empty lines at the end
            n += 1
            if n > self.n_rows:
                refuse(f"more rows than the {self.n_rows} of the header", self.path, line)
            parts = text.split()
            bare = not parts or text[0] in " \t" or ":" in parts[0]
            label = "" if bare else self._label(parts[0], words, line)
            yield line, Row(label, None, self._features(parts if bare else parts[1:], line), "")
        if n < self.n_rows:
            refuse(f"ends after {n} of {self.n_rows} rows", self.path, line)


def write_xmc(reader, survey, outputs, options):
    """Writes rows. Integer labels are used as numbers from 0; words need --label-names, the file for their
    names."""
    names = reader.label_names or []
    names = names + [label for label in survey.labels if label not in names]
    if options.label_names:
        number = {name: str(i) for i, name in enumerate(names)}
        n_labels = len(names)
    else:
        for name in names:
            if not is_index(name) or len(name) > 19:
                refuse(f"label {quoted(name)} is no number from 0: --label-names FILE takes the names",
                       reader.path)
        number = {name: name for name in names}
        n_labels = max(map(int, names), default=-1) + 1
    write = outputs.text(options.output).write
    write(f"{survey.n_rows} {survey.n_features} {n_labels}\n")
    for line, row in reader.rows():
        if row.query is not None:
            refuse("XMC has no queries", reader.path, line)
        write(",".join(number[label] for label in row.labels) + " "
              + " ".join(f"{index - 1}:{value}" for index, value in row.features) + "\n")
    if options.label_names:
        outputs.text(options.label_names).write("".join(name + "\n" for name in names))
