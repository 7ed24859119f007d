"""ONNX models of IR version 7 and opset 13, in protobuf's encoding (onnx.proto3 of the ONNX project).

Input x, float (N, features); output scores, float (N, scores), and by family label (N) of strings,
probabilities, float (N, classes), or chosen, bool (N, labels). Inner values are double, so that scores are
those of the programs, rounded once. Kernels whose sums are no matrix product add up one feature after the
other in a Scan, in memory of rows times support vectors.
"""
import array
import struct
import sys

from lib.exports import breakpoints, check_function, readable, weights_of
from lib.tool import refuse

IR_VERSION, OPSET = 7, 13
FLOAT, INT64, STRING, BOOL, DOUBLE = 1, 7, 8, 9, 11
MAX_BYTES = 2**31 - 2**20  # protobuf ends at 2^31
TINY = 1e-300  # below every norm of numbers in single precision


# ---- protobuf ----


def _varint(value):
    value &= 2**64 - 1
    out = bytearray()
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    out.append(value)
    return bytes(out)


def _field(number, value):
    """A field: an integer, a float, or bytes, text or an embedded message."""
    if isinstance(value, int):
        return _varint(number << 3) + _varint(value)
    if isinstance(value, float):
        return _varint(number << 3 | 5) + struct.pack("<f", value)
    data = value.encode("utf-8") if isinstance(value, str) else value
    return _varint(number << 3 | 2) + _varint(len(data)) + data


def _message(*fields):
    """A message of (number, value); a value that is a list is repeated."""
    return b"".join(_field(number, one) for number, value in fields
                    for one in (value if isinstance(value, list) else [value]))


def _attribute(name, value):
    if isinstance(value, Graph):
        return _message((1, name), (6, value.encode(name)), (20, 5))
    if isinstance(value, bytes):  # a tensor
        return _message((1, name), (5, value), (20, 4))
    if isinstance(value, list):
        return _message((1, name), (8, value), (20, 7))
    return _message((1, name), (3, value), (20, 2))


def _value_info(name, kind, shape):
    dims = [_message((2, n) if isinstance(n, str) else (1, n)) for n in shape]
    return _message((1, name), (2, _message((1, _message((1, kind), (2, _message((1, dims))))))))


def _tensor(kind, dims, values, name=""):
    if kind == STRING:
        data = (6, [value.encode("utf-8") for value in values])
    else:
        values = array.array({FLOAT: "f", DOUBLE: "d", INT64: "q"}[kind], values)
        if sys.byteorder == "big":
            values.byteswap()
        data = (9, values.tobytes())
    return _message((1, dims), (2, kind), data, (8, name))


class Graph:
    """Nodes in order. Names of the graphs within it must differ from its own: `prefix`."""

    def __init__(self, path, prefix=""):
        self.path, self.prefix = path, prefix
        self.nodes, self.constants, self.inputs, self.outputs = [], [], [], []
        self.n_names = self.n_bytes = 0

    def _name(self):
        self.n_names += 1
        return f"{self.prefix}v{self.n_names}"

    def constant(self, kind, dims, values):
        n = 1
        for dim in dims:
            n *= dim
        self.n_bytes += n * (4 if kind == FLOAT else 8)
        if self.n_bytes > MAX_BYTES:
            refuse("the model is too large for ONNX, whose files have at most 2 GB: --format c and json "
                   "have no zeros", self.path)
        name = self._name()
        self.constants.append(_tensor(kind, dims, values() if callable(values) else values, name))
        return name

    def number(self, value):
        return self.constant(DOUBLE, [], [value])

    def op(self, kind, *inputs, n=1, **attributes):
        """The output of a node, or a list of n."""
        outputs = [self._name() for _ in range(n)]
        self.nodes.append(_message((1, list(inputs)), (2, outputs), (4, kind),
                                   (5, [_attribute(*item) for item in attributes.items()])))
        return outputs if n > 1 else outputs[0]

    def cast(self, x, kind):
        return self.op("Cast", x, to=kind)

    def input(self, name, kind, shape):
        self.inputs.append(_value_info(name, kind, shape))
        return name

    def output(self, x, name, kind, shape):
        """Names a value as an output."""
        self.nodes.append(_message((1, [x]), (2, [name]), (4, "Identity")))
        self.outputs.append(_value_info(name, kind, shape))

    def encode(self, name):
        return _message((1, self.nodes), (2, name), (5, self.constants), (11, self.inputs),
                        (12, self.outputs))


# ---- scaling ----


def _affine(graph, model, x, d):
    shift, factor = [0.0] * d, [0.0] * d
    for index, [pair] in model.scaling.items():
        shift[index - 1], factor[index - 1] = pair
    return graph.op("Mul", graph.op("Sub", x, graph.constant(DOUBLE, [d], shift)),
                    graph.constant(DOUBLE, [d], factor))


def _unit(graph, x, d):
    length = graph.op("Sqrt", _row_sums(graph, graph.op("Mul", x, x), d))
    return graph.op("Div", x, graph.op("Max", length, graph.number(TINY)))


def _quantiles(graph, model, x, d):
    """The sum over breakpoints of the rise to the next, times the part of the way that x has gone: a Scan
    over features."""
    points = breakpoints(model)
    k = max([2, *map(len, points.values())]) - 1
    low, gap, rise = [0.0] * (d * k), [1.0] * (d * k), [0.0] * (d * k)
    for index, of in points.items():
        for i, ((v0, q0), (v1, q1)) in enumerate(zip(of, of[1:]), (index - 1) * k):
            low[i], gap[i], rise[i] = v0, v1 - v0, q1 - q0
    body = Graph(model.path, "q")
    column = body.input("qx", DOUBLE, ["N", 1])
    names = [body.input(name, DOUBLE, shape) for name, shape in
             (("qlow", [k]), ("qgap", [k]), ("qrise", [k, 1]))]
    part = body.op("Div", body.op("Sub", column, names[0]), names[1])
    part = body.op("Max", body.op("Min", part, body.number(1)), body.number(0))
    body.output(body.op("MatMul", part, names[2]), "qy", DOUBLE, ["N", 1])
    tables = [graph.constant(DOUBLE, [d, k], low), graph.constant(DOUBLE, [d, k], gap),
              graph.constant(DOUBLE, [d, k, 1], rise)]
    ranks = graph.op("Scan", _columns(graph, x), *tables, body=body, num_scan_inputs=4)
    return graph.op("Squeeze", graph.op("Transpose", ranks, perm=[1, 0, 2]),
                    graph.constant(INT64, [1], [2]))


def _scaled(graph, model, x, d):
    x = graph.cast(x, DOUBLE)
    if model.scale == "none":
        return x
    if model.scale == "l2":
        x = _unit(graph, x, d)
    else:
        x = (_quantiles if model.scale == "quantile" else _affine)(graph, model, x, d)
    return graph.cast(graph.cast(x, FLOAT), DOUBLE)


# ---- kernels ----


def _row_sums(graph, x, d):
    """(N, 1), as a product with ones."""
    return graph.op("MatMul", x, graph.constant(DOUBLE, [d, 1], [1.0] * d))


def _columns(graph, x):
    """(d, N, 1)"""
    return graph.op("Unsqueeze", graph.op("Transpose", x, perm=[1, 0]),
                    graph.constant(INT64, [1], [2]))


class Rows:
    """The scaled rows x and the support vectors z, and sums over their features."""

    def __init__(self, graph, model, x, d):
        self.graph, self.model, self.x, self.d = graph, model, x, d
        self.n = len(model.vectors)
        self.z = graph.cast(graph.constant(FLOAT, [d, self.n], self._transposed), DOUBLE)  # (d, n)

    def _transposed(self):
        values = array.array("f", bytes(4 * self.d * self.n))
        for j, (_, row) in enumerate(self.model.vectors):
            for index, value in row:
                values[(index - 1) * self.n + j] = value
        return values

    def products(self):
        return self.graph.op("MatMul", self.x, self.z)

    def norms(self, absolute):
        """|x| (N, 1) and |z| (1, n): sums of absolute values or of squares."""
        op, ones = self.graph.op, self.graph.constant(DOUBLE, [1, self.d], [1.0] * self.d)
        x, z = (op("Abs", rows) if absolute else op("Mul", rows, rows) for rows in (self.x, self.z))
        return _row_sums(self.graph, x, self.d), op("MatMul", ones, z)

    def scan(self, *ops):
        """Sums over the features of op(x_k, z_k), of several ops one after the other."""
        graph = self.graph
        body = Graph(self.model.path, "s")
        before = body.input("sbefore", DOUBLE, ["N", self.n])
        term, z = body.input("sx", DOUBLE, ["N", 1]), body.input("sz", DOUBLE, [self.n])
        for i, kind in enumerate(ops):
            term = body.op(kind, term, *([z] if i == 0 else []))
        body.output(body.op("Add", before, term), "sum", DOUBLE, ["N", self.n])
        rows = graph.op("Slice", graph.op("Shape", self.x), graph.constant(INT64, [1], [0]),
                        graph.constant(INT64, [1], [1]))
        shape = graph.op("Concat", rows, graph.constant(INT64, [1], [self.n]), axis=0)
        zeros = graph.op("ConstantOfShape", shape, value=_tensor(DOUBLE, [1], [0.0]))
        return graph.op("Scan", zeros, _columns(graph, self.x), self.z, body=body, num_scan_inputs=2)

    def ratio(self, both, absolute):
        """both / (|x| + |z| - both), and 1 where that divides by 0."""
        op = self.graph.op
        every = op("Sub", op("Add", *self.norms(absolute)), both)
        none = self.graph.cast(op("Not", op("Greater", every, self.graph.number(0))), DOUBLE)
        return op("Div", op("Add", both, none), op("Add", every, none))


def _kernel(rows, kernel, degree=0, gamma=0, coef0=0):
    """Kernel values (N, n)."""
    graph, op, number = rows.graph, rows.graph.op, rows.graph.number
    if kernel in ("polynomial", "sigmoid"):
        u = op("Add", op("Mul", rows.products(), number(gamma)), number(coef0))
        if kernel == "polynomial":
            return op("Pow", u, number(degree))
        # tanh(u) = 1 - 2 / (exp(2u) + 1): not all runtimes have Tanh of double
        power = op("Exp", op("Mul", u, number(2)))
        return op("Sub", number(1), op("Div", number(2), op("Add", power, number(1))))
    if kernel == "rbf":
        norms = op("Add", *rows.norms(False))
        square = op("Sub", norms, op("Mul", rows.products(), number(2)))
        return op("Exp", op("Mul", op("Max", square, number(0)), number(-gamma)))
    if kernel in ("laplacian", "rational"):
        distance = op("Mul", rows.scan("Sub", "Abs"), number(gamma))
        return op("Exp", op("Neg", distance)) if kernel == "laplacian" else \
            op("Reciprocal", op("Add", distance, number(1)))
    if kernel == "minmax":
        return rows.ratio(rows.scan("Min"), True)
    return rows.ratio(rows.products(), False)


# ---- outputs ----


def _label(graph, model, scores):
    decision = model.decision()
    if decision:
        labels = [decision.below, decision.above]
        above = graph.op("Greater", scores, graph.number(decision.threshold))
        place = graph.op("Reshape", graph.cast(above, INT64), graph.constant(INT64, [1], [-1]))
    else:
        labels = model.labels
        place = graph.op("ArgMax", scores, axis=1, keepdims=0)
    return graph.op("Gather", graph.constant(STRING, [len(labels)], list(map(readable, labels))), place)


def _is_place(graph, places, q):
    """Whether a label is the one of a place."""
    return graph.op("Equal", places, graph.constant(INT64, [q], range(q)))


def _chosen(graph, sets, scores, q):
    """Label sets, (N, q)."""
    op = graph.op
    if sets.kind == "top":
        count = graph.constant(INT64, [1], [min(int(sets.values[0]), q)])
        places = op("Unsqueeze", op("TopK", scores, count, n=2)[1], graph.constant(INT64, [1], [2]))
        hits = op("ReduceMax", graph.cast(_is_place(graph, places, q), FLOAT), axes=[1], keepdims=0)
        return graph.cast(hits, BOOL)
    if sets.kind == "ew":
        level = op("Add", op("MatMul", scores, graph.constant(DOUBLE, [q, 1], sets.values[:q])),
                   graph.number(sets.values[q]))
    else:  # of all labels, or of each
        level = graph.constant(DOUBLE, [len(sets.values) or 1], sets.values or [0.0])
    chosen = op("Greater", scores, level)
    if sets.at_least_one:
        some = op("Greater", _row_sums(graph, graph.cast(chosen, DOUBLE), q), graph.number(0))
        best = _is_place(graph, op("ArgMax", scores, axis=1, keepdims=1), q)
        chosen = op("Or", chosen, op("And", best, op("Not", some)))
    return chosen


def _scores(graph, model, d):
    x = _scaled(graph, model, graph.input("x", FLOAT, ["N", d]), d)
    weights, k = weights_of(model), model.n_outputs
    if weights is not None:
        table = [0.0] * (d * k)
        for index, of in weights.items():
            table[(index - 1) * k:index * k] = of
    else:
        x = _kernel(Rows(graph, model, x, d), model.kernel, **model.parameters)
        table = [value for row, _ in model.vectors for value in row]
    sums = graph.op("MatMul", x, graph.constant(DOUBLE, [len(table) // k, k], table))
    return graph.op("Add", sums, graph.constant(DOUBLE, [k], model.bias))


def write(model, name):
    check_function(model, dense=True)
    d, k = max(1, model.n_features), model.n_outputs
    graph = Graph(model.path)
    scores = _scores(graph, model, d)
    graph.output(graph.cast(scores, FLOAT), "scores", FLOAT, ["N", k])
    sets = model.label_sets()
    if sets:
        graph.output(_chosen(graph, sets, scores, k), "chosen", BOOL, ["N", k])
    elif model.labels:
        graph.output(_label(graph, model, scores), "label", STRING, ["N"])
    if "probability-scale" in model.keys:
        scaled = graph.op("Mul", scores, graph.number(model.number("probability-scale")))
        graph.output(graph.cast(graph.op("Softmax", scaled, axis=1), FLOAT), "probabilities", FLOAT,
                     ["N", k])
    facts = [("family", model.family), ("labels", " ".join(map(readable, model.labels)))]
    return _message((1, IR_VERSION), (2, "dualsvm"), (7, graph.encode(name)),
                    (8, _message((1, ""), (2, OPSET))),
                    (14, [_message((1, key), (2, value)) for key, value in facts]))
