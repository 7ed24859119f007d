#!/usr/bin/env python3
"""Plain evaluators of what tools/export writes, and a comparison with predictions by svm-FAMILY-predict --scores:
words must be equal, numbers to single precision.

    exports.py PREDICTIONS ROWS FILE...   FILE: NAME.json, NAME.onnx (which needs NumPy), NAME.pmml, or
                                          predictions as text; ROWS: svmlight text
"""
import ctypes
import json
import math
import sys
import xml.etree.ElementTree as ET


def single(value):
    return ctypes.c_float(value).value


def rows_of(path):
    """{index: value} of each row."""
    with open(path) as file:
        for line in file:
            words = [word.split(":") for word in line.split("#")[0].split() if ":" in word]
            if not line.startswith("#"):
                yield {int(index): single(float(value)) for index, value in words
                       if index not in ("qid", "0")}


# ---- JSON: the formulas of doc/mathematics.md ----


def scaled(scaling, row):
    kind = scaling["kind"]
    if kind == "l2":
        length = math.sqrt(sum(v * v for v in row.values()))
        return {i: single(v / length) for i, v in row.items()} if length else row
    if kind == "none":
        return row
    result = {}
    for one in scaling["features"]:
        x = row.get(one["index"], 0)
        if kind == "quantile":
            values = [single(v) for v in one["value"]]
            ranks = [single(v) for v in one["quantile"]]
            after = sum(v <= x for v in values)
            if after in (0, len(values)):
                y = ranks[0] if after == 0 else ranks[-1]
            else:
                part = (x - values[after - 1]) / (values[after] - values[after - 1])
                y = ranks[after - 1] + part * (ranks[after] - ranks[after - 1])
        else:
            y = (x - one["shift"]) * one["factor"]
        result[one["index"]] = single(y)
    return result


def kernel_value(kernel, x, z):
    both = sorted(set(x) | set(z))
    pairs = [(x.get(i, 0), z.get(i, 0)) for i in both]
    product = math.fsum(a * b for a, b in pairs)
    distance = math.fsum(abs(a - b) for a, b in pairs)
    name, gamma, coef0 = kernel["name"], kernel.get("gamma"), kernel.get("coef0")
    if name == "polynomial":
        return (gamma * product + coef0) ** kernel["degree"]
    if name == "rbf":
        return math.exp(-gamma * math.fsum((a - b) ** 2 for a, b in pairs))
    if name == "sigmoid":
        return math.tanh(gamma * product + coef0)
    if name == "laplacian":
        return math.exp(-gamma * distance)
    if name == "rational":
        return 1 / (1 + gamma * distance)
    if name == "tanimoto":
        every = math.fsum(a * a + b * b - a * b for a, b in pairs)
        return product / every if every > 0 else 1
    assert name == "minmax"
    every = math.fsum(max(a, b) for a, b in pairs)
    return math.fsum(min(a, b) for a, b in pairs) / every if every > 0 else 1


def decide(model, scores):
    """The label, or the labels with commas between, or nothing for rank."""
    labels, family = model.get("labels"), model["family"]
    if family == "rank":
        return []
    if family == "top":
        return [labels[not scores[0] > model.get("calibrated-threshold", model["threshold"])]]
    if family != "ml":
        return [labels[scores[0] > 0]] if len(scores) < len(labels) else [labels[scores.index(max(scores))]]
    kind, values = model["threshold"]["kind"], model["threshold"]["values"]
    q, order = len(scores), sorted(range(len(scores)), key=lambda k: -scores[k])
    if kind == "top":
        chosen = set(order[:int(values[0])])
    else:
        level = {"ew": lambda: [math.fsum([*map(lambda a, b: a * b, values, scores), values[-1]])] * q,
                 "scut": lambda: values, "global": lambda: values * q, "zero": lambda: [0] * q}[kind]()
        chosen = {k for k in range(q) if scores[k] > level[k]}
        if not chosen and model["at-least-one"]:
            chosen = {order[0]}
    return [",".join(labels[k] for k in sorted(chosen))]


def predict_json(path, rows):
    with open(path) as file:
        model = json.load(file)
    vectors = [({i: single(v) for i, v in zip(one.get("index", []), one.get("value", []))}, one)
               for one in model.get("support-vectors", [])]
    for row in rows:
        x = scaled(model["scaling"], row)
        terms = [(x.get(one["index"], 0), one["weight"]) for one in model.get("weights", [])]
        for z, one in vectors:
            value = x.get(one["serial"], 0) if "serial" in one else kernel_value(model["kernel"], x, z)
            terms.append((value, one["coefficient"]))
        scores = [math.fsum([bias, *(value * of[k] for value, of in terms)])
                  for k, bias in enumerate(model["bias"])]
        yield decide(model, scores) + scores


# ---- ONNX: the operators' definitions, in NumPy ----


def message(data):
    """{field: values} of a protobuf message; messages within it are bytes."""
    fields, at = {}, 0

    def varint():
        nonlocal at
        value = shift = 0
        while True:
            byte = data[at]
            at += 1
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value

    while at < len(data):
        key = varint()
        if key & 7 == 0:
            value = varint()
        else:
            n = varint() if key & 7 == 2 else {5: 4, 1: 8}[key & 7]
            value = data[at:at + n]
            assert len(value) == n
            at += n
        fields.setdefault(key >> 3, []).append(value)
    return fields


def tensor(data):
    import numpy as np
    of = message(data)
    shape = of.get(1, [])
    if of[2] == [8]:
        return np.array([text.decode() for text in of[6]], dtype=object).reshape(shape)
    return np.frombuffer(of[9][0], {1: "<f4", 7: "<i8", 11: "<f8"}[of[2][0]]).reshape(shape)


def attributes(node):
    values = {}
    for data in node.get(5, []):
        of = message(data)
        kind = of[20][0]
        values[of[1][0].decode()] = {2: lambda: of[3][0], 4: lambda: tensor(of[5][0]),
                                     5: lambda: message(of[6][0]), 7: lambda: of[8]}[kind]()
    return values


def names(fields, number):
    return [message(data)[1][0].decode() for data in fields.get(number, [])]


def operator(kind, x, of, outer):
    import numpy as np
    plain = {"Add": np.add, "Sub": np.subtract, "Mul": np.multiply, "Div": np.divide, "Max": np.maximum,
             "Min": np.minimum, "Exp": np.exp, "Abs": np.abs, "Neg": np.negative, "Sqrt": np.sqrt,
             "Pow": np.power, "Reciprocal": lambda a: 1 / a, "Greater": np.greater, "Equal": np.equal,
             "Not": np.logical_not, "And": np.logical_and, "Or": np.logical_or, "MatMul": np.matmul,
             "Identity": lambda a: a, "Shape": lambda a: np.array(a.shape), "Gather": lambda a, i: a[i],
             "Reshape": lambda a, shape: a.reshape(shape),
             "Squeeze": lambda a, axes: np.squeeze(a, tuple(axes)),
             "Unsqueeze": lambda a, axes: np.expand_dims(a, tuple(axes)),
             "Slice": lambda a, start, end: a[start[0]:end[0]],
             "ConstantOfShape": lambda shape: np.full(shape, of["value"][0]),
             "Transpose": lambda a: a.transpose(of["perm"]),
             "Concat": lambda *all: np.concatenate(all, of["axis"]),
             "Cast": lambda a: a.astype({1: "f4", 7: "i8", 9: "?", 11: "f8"}[of["to"]])}
    if kind in plain:
        assert len({a.dtype for a in x}) == 1 or kind in ("Gather", "Reshape", "Squeeze", "Unsqueeze"), kind
        return [plain[kind](*x)]
    if kind == "ArgMax":
        best = x[0].argmax(of["axis"])
        return [np.expand_dims(best, of["axis"]) if of["keepdims"] else best]
    if kind == "ReduceMax":
        return [x[0].max(tuple(of["axes"]), keepdims=bool(of["keepdims"]))]
    if kind == "Softmax":
        power = np.exp(x[0] - x[0].max(of["axis"], keepdims=True))
        return [power / power.sum(of["axis"], keepdims=True)]
    if kind == "TopK":
        order = np.argsort(-x[0], 1, kind="stable")[:, :x[1][0]]
        return [np.take_along_axis(x[0], order, 1), order]
    assert kind == "Scan", kind
    body, n = of["body"], of["num_scan_inputs"]
    states, scanned = x[:len(x) - n], x[len(x) - n:]
    stacks = []
    for parts in zip(*scanned):
        results = run_graph(body, [*states, *parts], outer)
        states, rest = results[:len(states)], results[len(states):]
        stacks.append(rest)
    return [*states, *(np.stack(one) for one in zip(*stacks))]


def run_graph(graph, inputs, outer):
    known = dict(outer)
    for data in graph.get(5, []):
        known[message(data)[8][0].decode()] = tensor(data)
    known.update(zip(names(graph, 11), inputs))
    for data in graph[1]:
        node = message(data)
        results = operator(node[4][0].decode(), [known[name.decode()] for name in node[1]],
                           attributes(node), known)
        known.update(zip([name.decode() for name in node[2]], results))
    return [known[name] for name in names(graph, 12)]


def predict_onnx(path, rows):
    import numpy as np
    with open(path, "rb") as file:
        model = message(file.read())
    graph = message(model[7][0])
    facts = dict((entry[1][0].decode(), entry.get(2, [b""])[0].decode())
                 for entry in map(message, model[14]))
    shape = message(message(message(message(graph[11][0])[2][0])[1][0])[2][0])
    width = message(shape[1][1])[1][0]
    rows = list(rows)
    x = np.zeros((len(rows), width), "f4")
    for i, row in enumerate(rows):
        for index, value in row.items():
            if index <= width:
                x[i, index - 1] = value
    with np.errstate(all="ignore"):
        found = dict(zip(names(graph, 12), run_graph(graph, [x], {})))
    labels = facts["labels"].split()
    for i in range(len(rows)):
        words = [found["label"][i]] if "label" in found else []
        if "chosen" in found:
            words = [",".join(label for label, is_in in zip(labels, found["chosen"][i]) if is_in)]
        yield words + list(found.get("probabilities", found["scores"])[i])


# ---- PMML ----


def evaluate(node, known):
    """An expression."""
    kind = node.tag
    if kind == "FieldRef":
        return known[node.get("field")]
    if kind == "Constant":
        return float(node.text) if node.get("dataType") == "double" else node.text
    if kind == "NormContinuous":
        x = known[node.get("field")]
        points = [(float(one.get("orig")), float(one.get("norm"))) for one in node]
        assert node.get("outliers") == "asExtremeValues"
        if x <= points[0][0] or x >= points[-1][0]:
            return points[0][1] if x <= points[0][0] else points[-1][1]
        for (x0, y0), (x1, y1) in zip(points, points[1:]):
            if x0 <= x < x1:
                return y0 + (x - x0) / (x1 - x0) * (y1 - y0)
    assert kind == "Apply", kind
    x = [evaluate(one, known) for one in node]
    return {"+": lambda: x[0] + x[1], "-": lambda: x[0] - x[1], "*": lambda: x[0] * x[1],
            "/": lambda: x[0] / x[1], "max": lambda: max(x), "sum": lambda: math.fsum(x),
            "sqrt": lambda: math.sqrt(x[0]), "greaterThan": lambda: x[0] > x[1],
            "if": lambda: x[1] if x[0] else x[2]}[node.get("function")]()


def pmml_kernel(model, x, z):
    product = math.fsum(a * b for a, b in zip(x, z))
    for kind in model.iter("PolynomialKernelType"):
        return (float(kind.get("gamma")) * product + float(kind.get("coef0"))) ** float(kind.get("degree"))
    for kind in model.iter("RadialBasisKernelType"):
        return math.exp(-float(kind.get("gamma")) * math.fsum((a - b) ** 2 for a, b in zip(x, z)))
    for kind in model.iter("SigmoidKernelType"):
        return math.tanh(float(kind.get("gamma")) * product + float(kind.get("coef0")))
    raise AssertionError


def dense(instance, width):
    array = instance.find("REAL-SparseArray")
    row = [0.0] * width
    for place, value in zip((array.find("Indices").text or "").split(),
                            (array.find("REAL-Entries").text or "").split()):
        row[int(place) - 1] = float(value)
    return row


def regression(model, known):
    active = {one.get("name") for one in model.find("MiningSchema")}
    if model.tag == "RegressionModel":
        def value(table):
            return math.fsum([float(table.get("intercept")),
                              *(float(one.get("coefficient")) * known[one.get("name")] for one in table)])
        tables = model.findall("RegressionTable")
        for table in tables:
            for one in table:
                assert one.get("name") in active or one.get("name")[0] == "s"
        if model.get("functionName") == "regression":
            return value(tables[0])
        return {table.get("targetCategory"): value(table) for table in tables}
    dictionary, machine = model.find("VectorDictionary"), model.find("SupportVectorMachine")
    x = [known[one.get("field")] for one in dictionary.find("VectorFields")]
    z = {one.get("id"): dense(one, len(x)) for one in dictionary.findall("VectorInstance")}
    coefficients = machine.find("Coefficients")
    return math.fsum([float(coefficients.get("absoluteValue")),
                      *(float(a.get("value")) * pmml_kernel(model, x, z[s.get("vectorId")])
                        for a, s in zip(coefficients, machine.find("SupportVectors")))])


def outputs(model, known, result):
    for field in model.iterfind("Output/OutputField"):
        feature = field.get("feature")
        if feature == "transformedValue":
            value = evaluate(field[0], known)
        elif isinstance(result, dict) and feature == "probability":
            sums = math.fsum(math.exp(y - max(result.values())) for y in result.values())
            value = math.exp(result[field.get("value")] - max(result.values())) / sums
        else:
            value = max(result, key=result.get) if isinstance(result, dict) else result
        known[field.get("name")] = value


def predict_pmml(path, rows):
    root = ET.parse(path).getroot()
    for element in root.iter():
        element.tag = element.tag.replace("{http://www.dmg.org/PMML-4_4}", "")
    fields = [one.get("name") for one in root.find("DataDictionary")]
    model = root[-1]
    parts = [segment[1] for segment in model.iterfind("Segmentation/Segment")] or [model]
    for row in rows:
        known = {name: row.get(int(name[1:]), 0.0) for name in fields if name != "label"}
        for field in root.iterfind("TransformationDictionary/DerivedField"):
            value = evaluate(field[0], known)
            known[field.get("name")] = single(value) if field.get("dataType") == "float" else value
        for part in parts:
            outputs(part, known, regression(part, known))
        if model not in parts:
            outputs(model, known, None)
        words = [known[name] for name in ("predicted", "label") if name in known]
        sets = [name[4:] for name in known if name.startswith("has_")]
        if sets:
            words = [",".join(label for label in sets if known[f"has_{label}"])]
        kind = "probability_" if any(name.startswith("probability_") for name in known) else "score"
        yield words + [value for name, value in known.items() if name.startswith(kind)]


# ---- comparison ----


def parse(words):
    numbers = [float(word) for word in words[1:] or words]
    return words[0] if len(words) > 1 else None, numbers


def text_of(path):
    with open(path) as file:
        lines = file.read().splitlines()
    return [parse(line.split(" ")) for line in lines if not line.startswith("labels ")]


def main():
    expected = text_of(sys.argv[1])
    rows = list(rows_of(sys.argv[2]))
    largest = max(abs(x) for _, numbers in expected for x in numbers)
    assert largest > 0 and len(expected) == len(rows)
    for path in sys.argv[3:]:
        predict = {"json": predict_json, "onnx": predict_onnx, "pmml": predict_pmml}.get(path[-4:])
        found = [parse(words) for words in predict(path, rows)] if predict else text_of(path)
        assert len(expected) == len(found), path
        for row, ((word, numbers), (other, others)) in enumerate(zip(expected, found), 1):
            assert (word, len(numbers)) == (other, len(others)), (path, row, word, other)
            for x, y in zip(numbers, others):
                assert abs(x - y) <= 2e-7 * largest, (path, row, x, y, largest)


main()
