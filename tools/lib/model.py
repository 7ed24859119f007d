"""Models of the trainers (doc/formats.md, "Models"). Numbers have the value of their decimals; features of
support vectors, and quantiles with their values, are in single precision to the programs (lib.number.single)."""
import math
import zlib
from typing import Dict, List, NamedTuple, Optional, Tuple

from lib.files import Source, guarded
from lib.number import is_number
from lib.svmlight import LARGEST_INDEX
from lib.tool import quoted, refuse

FAMILIES = ("rank", "top", "mc", "ml", "smm")
KERNELS = {  # by their numbers, and their parameters
    "linear": (), "polynomial": ("degree", "gamma", "coef0"), "rbf": ("gamma",),
    "sigmoid": ("gamma", "coef0"), "precomputed": (), "tanimoto": (), "minmax": (),
    "laplacian": ("gamma",), "rational": ("gamma",)}
# Scalings of which a model stores nothing by column: each row or query is scaled by itself.
BY_ITSELF = ("none", "l2", "query-minmax", "query-std")
MAX_DEGREE, MAX_OUTPUTS = 1 << 20, 1 << 24
NUMBERS = ("cost", "degree", "gamma", "coef0", "rows", "features", "primal", "dual", "gap",
           "iterations", "outputs")
REQUIRED = ("formulation", "cost", "kernel", "rows", "features", "primal", "dual", "gap", "iterations")
BODIES = ("scaling", "scaling sparse", "w", "w sparse", "SV", "SV pairs")
# Keys of a model that are options of its trainer; the others are results.
OPTIONS = ("formulation", "loss", "cost", "kernel", "degree", "gamma", "coef0", "scale",
           "query-features", "cost-per", "gain", "pair-features", "margin-scale", "positive", "top-k",
           "tau", "theta", "shape", "max-sv")


class Decision(NamedTuple):
    """Of models with one score and two labels: a row that scores above the threshold has the label."""

    threshold: float
    above: str
    below: str


class LabelSets(NamedTuple):
    """Threshold of ml: levels of all labels (global: one) or weights of the scores and a constant (ew)."""

    kind: str  # ew global scut top zero
    values: List[float]
    at_least_one: bool


class Map(NamedTuple):
    """From the scores of a query to its labels (--targets)."""

    query: str
    half_width: Optional[float]  # None: not known
    points: List[Tuple[float, float]]  # (score, label), scores ascending


class Model:
    """keys: the header, as text. scaling: {index: [(shift, factor)]}, of quantile {index: [(value, quantile),
    ...]}; None if there is none by column. The body is one of: weights, {index: weights of the outputs}; vectors, [(coefficients, [(index,
    value)])], where index 0 has the serial of a precomputed kernel; vectors and pairs, [(u, v, value)],
    u and v from 1. Everything else is None."""

    def __init__(self, path):
        self.path = path
        with guarded(path), Source(path).open() as stream:
            data = stream.read()
        self._number, self._lines = 0, self._text_lines(data)
        self.family = self._first_line()
        self.keys: Dict[str, str] = {}
        self._read_header()
        self._read_common()
        self.scaling = self.weights = self.vectors = self.pairs = None
        self.sparse_scaling = False
        try:
            self._read_body()
        except (ValueError, IndexError):
            refuse("not a line of the model's body", path, self._number)
        self._number = None
        self.labels = self.keys["labels"].split(" ") if "labels" in self.keys else []
        self._check_labels()

    # ---- lines ----

    def _text_lines(self, data):
        """The lines before the last one, after its check."""
        head, _, last = data.rstrip(b"\n").rpartition(b"\n")
        words = last.split(b" ")
        if not data.startswith(b"dualsvm "):
            first = data.split(b"\n", 1)[0].decode("utf-8", "replace")
            refuse("not a model: a first line 'dualsvm FAMILY 1' is expected: " + quoted(first),
                   self.path, 1)
        if not data.endswith(b"\n") or len(words) != 3 or words[0] != b"end":
            refuse("the model is truncated: it has no last line 'end LINES CRC'", self.path)
        if words[2] != b"%08x" % zlib.crc32(head + b"\n"):
            refuse("the model was changed: its checksum is not that of its last line", self.path)
        return iter(head.decode("utf-8", "surrogateescape").split("\n"))

    def _next(self):
        self._number += 1
        return next(self._lines, None)

    def _fail(self, what, found):
        refuse(f"{what}: {quoted(found)}", self.path, self._number)

    def _numbers(self, texts):
        """The values of numbers; anything else is an error."""
        for text in texts:
            if not is_number(text) or math.isinf(float(text)):
                self._fail("not a number", text)
        return [float(text) for text in texts]

    def _whole(self, key, most, missing=None):
        """The value of a key that is an integer from 0 to most."""
        value = self.number(key, missing)
        if value is None or not 0 <= value <= most or value != int(value):
            self._fail("not a whole number in range", self.keys.get(key, key))
        return int(value)

    # ---- the header ----

    def _first_line(self):
        words = self._next().split(" ")
        if len(words) != 3 or words[1] not in FAMILIES or words[2] != "1":
            self._fail(f"not a model of {', '.join(FAMILIES)}, version 1", " ".join(words))
        return words[1]

    def _read_header(self):
        while True:
            line = self._next()
            if line is None or line in BODIES:
                break
            key, blank, value = line.partition(" ")
            if not blank or key in self.keys:
                self._fail("not a line 'key value', or given twice", line)
            self.keys[key] = value
        self._body = line
        for key in REQUIRED:
            if key not in self.keys:
                self._fail("the header lacks the key", key)

    def _read_common(self):
        for key in NUMBERS:
            if key in self.keys and (key, self.keys[key]) != ("gap", "none"):
                self._numbers([self.keys[key]])
        self.kernel, self.scale = self.keys["kernel"], self.keys.get("scale", "none")
        if self.kernel not in KERNELS:
            self._fail("an unknown kernel", self.kernel)
        for name in KERNELS[self.kernel]:
            if name not in self.keys:
                self._fail("the header lacks the key", name)
        self.parameters = {name: self.number(name) for name in KERNELS[self.kernel]}
        if "degree" in self.parameters:
            self._whole("degree", MAX_DEGREE)
        self.n_features = self._whole("features", LARGEST_INDEX)
        self.n_outputs = self._whole("outputs", MAX_OUTPUTS, 1)
        self.bias = self._numbers(self.keys.get("bias", "0").split(" "))
        if self.bias == [0]:
            self.bias *= self.n_outputs
        if len(self.bias) != self.n_outputs:
            self._fail("the bias does not fit the number of outputs", self.keys["bias"])

    def number(self, key, missing=None):
        """The value of a key that is a number; `missing` if it is not there or none."""
        text = self.keys.get(key, "none")
        return missing if text == "none" else self._numbers([text])[0]

    def _check_labels(self):
        n = 0 if self.family == "rank" else self.n_outputs
        two = self.family == "top" or self.family == "smm" and n == 1
        if len(self.labels) != (2 if two else n):
            self._fail("the model does not have a label for each score", self.keys.get("labels", ""))

    # ---- the body ----

    def _read_body(self):
        if self._body in ("scaling", "scaling sparse"):
            self.sparse_scaling = self._body.endswith("sparse")
            self.scaling = {}
            for index, words in self._table(self.sparse_scaling):
                numbers = self._numbers(words)
                points = list(zip(numbers[::2], numbers[1::2]))
                ascend = all(a < b for (a, _), (b, _) in zip(points, points[1:]))
                if len(numbers) % 2 or not ascend or self.scale != "quantile" and len(points) != 1:
                    self._fail("not the scaling of a feature", " ".join(words))
                self.scaling[index] = points
            n = self.n_features // 2 if "query-features" in self.keys else self.n_features
            if not self.sparse_scaling and len(self.scaling) != n:
                self._fail("not a line for each feature", str(len(self.scaling)))
        if self._body in ("w", "w sparse"):
            self.weights = {}
            sparse = self._body.endswith("sparse")
            for index, words in self._table(sparse):
                if len(words) != self.n_outputs:
                    self._fail("not a weight for each output", " ".join(words))
                self.weights[index] = self._numbers(words)
            if not sparse and len(self.weights) != self.n_features:
                self._fail("not a weight for each feature", str(len(self.weights)))
        elif self._body in ("SV", "SV pairs"):
            self._read_vectors(self._body == "SV pairs")
        if self._body is not None:
            self._fail("not what follows", self._body)
        if self.weights is None and self.vectors is None or self.weights is None and self.kernel == "linear" \
                and self.pairs is None or (self.scaling is None) != (self.scale in BY_ITSELF):
            self._fail("the body does not fit the kernel and the scaling", self.kernel + " " + self.scale)

    def _table(self, indexed):
        """(index, words) of the lines up to the next word, which becomes self._body."""
        index = 0
        for line in iter(self._next, None):
            if line[:1].isalpha():
                self._body = line
                return
            words = line.split(" ")
            if indexed:
                at, _, words[0] = words[0].partition(":")
                if not at.isascii() or not at.isdigit() or int(at) <= index:
                    self._fail("not an index, or out of order", line)
                index = int(at)
            else:
                index += 1
            if indexed and index > self.n_features:
                self._fail("an index above the number of features", line)
            yield index, words
        self._body = None

    def _read_vectors(self, pairs):
        n = 0 if pairs else self.n_outputs
        self.vectors = []
        for _, words in self._table(False):
            row = [word.partition(":") for word in words[n:] if word]
            numbers = self._numbers([at for at, _, _ in row] + [value for _, _, value in row])
            indices = list(map(int, numbers[:len(row)]))
            if indices != sorted(set(indices)) or max(indices, default=0) > self.n_features or \
                    self.sparse_scaling and not self.scaling.keys() >= set(indices) or \
                    (indices == [0]) != (self.kernel == "precomputed"):
                self._fail("not the features of a support vector", " ".join(words))
            self.vectors.append((self._numbers(words[:n]), list(zip(indices, numbers[len(row):]))))
        if pairs and self._body == "pairs":
            self.pairs = []
            for _, words in self._table(False):
                u, v, value = self._numbers(words)
                self.pairs.append((int(u), int(v), value))

    # ---- meaning ----

    def linear_weights(self):
        """{index: weights of the outputs} of a model whose scores are linear in the (scaled) features, or
        None. The features of a precomputed kernel are its values with the training rows."""
        if self.weights is not None or self.vectors and self.kernel != "precomputed" or self.pairs is not None:
            return self.weights
        weights = {}
        for coefficients, [(_, serial)] in self.vectors:
            sums = weights.setdefault(int(serial), [0.0] * self.n_outputs)
            for k, coefficient in enumerate(coefficients):
                sums[k] += coefficient
        return dict(sorted(weights.items()))

    def decision(self):
        """The Decision of a model with one score and two labels, or None."""
        if self.family == "top":
            threshold = self.number("calibrated-threshold", self.number("threshold", 0))
            return Decision(threshold, *self.labels)
        return Decision(0.0, *self.labels[::-1]) if len(self.labels) > self.n_outputs else None

    def label_sets(self):
        """The LabelSets of ml, or None."""
        if self.family != "ml":
            return None
        kind, *words = self.keys.get("threshold", "").split(" ")
        n = {"ew": self.n_outputs + 1, "global": 1, "scut": self.n_outputs, "top": 1, "zero": 0}
        if len(words) != n.get(kind):
            self._fail("the model's threshold is not one", self.keys.get("threshold", ""))
        return LabelSets(kind, self._numbers(words), self.keys.get("at-least-one") == "1")

    def targets(self):
        """The Maps of rank."""
        words = iter(self.keys.get("targets", "0").split(" "))
        maps = []
        try:
            for _ in range(int(next(words))):
                query, width, n = next(words), next(words), int(next(words))
                points = [tuple(self._numbers([next(words), next(words)])) for _ in range(n)]
                maps.append(Map(query, None if width == "none" else self._numbers([width])[0], points))
        except (ValueError, StopIteration):
            self._fail("not the maps of queries", self.keys["targets"])
        return maps

    def options(self):
        """Options of the trainer that the model tells, as words of a command line."""
        words = []
        for key in OPTIONS:
            if key in self.keys and not (self.family == "smm" and key == "kernel"):
                words += ["--" + key, self.keys[key]]
        if "calibrated-tau" in self.keys:
            words += ["--calibrate", self.keys["calibrated-tau"]]
        for key, option in (("probability-scale", "--probability"), ("probability-slope", "--probability"),
                            ("targets", "--targets")):
            words += [option, "1"] if key in self.keys else []
        sets = self.label_sets()
        if sets:
            words += ["--threshold", sets.kind + (f":{self.keys['threshold'].split()[1]}"
                                                  if sets.kind == "top" else "")]
            words += ["--at-least-one"] if sets.at_least_one else []
        return words

    def omitted(self):
        """What the line of options lacks, in words: options of the trainer that the model does not store."""
        sure = {"top": "-B V", "mc": "-B V", "ml": "-B V or --free-bias"}.get(self.family) if any(self.bias) else None
        more = {"rank": ["-w"], "ml": []}.get(self.family, ["-w", "--row-weights"])
        return f"{sure + '; and, ' if sure else ''}if given, {', '.join([*more, '-e'])}"
