"""JSON with all that the text of a model has (doc/formats.md, "Exports")."""
import json
import math

from lib.exports import readable
from lib.model import KERNELS, NUMBERS
from lib.number import is_number

OWN_NUMBERS = ("groups", "pairs", "probability-slope", "probability-scale", "margin-scale", "top-k", "tau",
               "theta", "max-sv", "threshold", "calibrated-tau", "calibrated-threshold", "calibrated-fpr", "calibrated-fpr-low",
               "calibrated-fpr-high", "calibrated-tpr", "calibrated-tpr-low", "calibrated-tpr-high", "rank",
               "stationarity")
LISTS = ("targets-few", "targets-widths", "label-rows")  # of numbers
READ = ("bias", "labels", "targets", "at-least-one", "kernel", "scale")  # in another form below


def _number(text):
    """An integer where the text is one, a double, or None."""
    if not is_number(text) or math.isinf(float(text)):
        return None
    return int(text) if text.lstrip("-").isdigit() else float(text)


def _value(key, text):
    if key in NUMBERS or key in OWN_NUMBERS:
        return _number(text)
    if key in LISTS:
        return [_number(word) for word in text.split(" ")]
    if key == "certified":
        return text == "yes"
    return readable(text).split(" ") if key == "solver" else readable(text)


def _sparse(row):
    return {"index": [index for index, _ in row], "value": [value for _, value in row]}


def _scaling(model):
    kind = readable(model.scale)
    if model.scaling is None:
        return {"kind": kind}
    if model.scale == "quantile":
        features = [{"index": index, "value": [value for value, _ in points],
                     "quantile": [quantile for _, quantile in points]}
                    for index, points in model.scaling.items()]
    else:
        features = [{"index": index, "shift": shift, "factor": factor}
                    for index, [(shift, factor)] in model.scaling.items()]
    return {"kind": kind, "features": features}


def _body(model):
    if model.weights is not None:
        return {"weights": [{"index": index, "weight": weights} for index, weights in model.weights.items()]}
    vectors = []
    for coefficients, row in model.vectors:
        entry = {} if model.pairs is not None else {"coefficient": coefficients}
        vectors.append(entry | ({"serial": int(row[0][1])} if model.kernel == "precomputed" else _sparse(row)))
    body = {"support-vectors": vectors}
    if model.pairs is not None:
        body["pairs-of-vectors"] = [{"u": u, "v": v, "coefficient": value} for u, v, value in model.pairs]
    return body


def write(model, name):
    facts = {"format": "dualsvm", "version": 1, "name": name, "family": model.family}
    parameters = {key: _number(model.keys[key]) for key in KERNELS[model.kernel]}
    sets = model.label_sets()
    for key, text in model.keys.items():
        if key not in READ and key not in parameters and not (sets and key == "threshold"):
            facts[readable(key)] = _value(key, text)
    facts |= {"kernel": {"name": model.kernel} | parameters, "bias": model.bias}
    if model.labels:
        facts["labels"] = list(map(readable, model.labels))
    if sets:
        facts["threshold"] = {"kind": sets.kind, "values": sets.values}
        facts["at-least-one"] = sets.at_least_one
    if "targets" in model.keys:
        facts["targets"] = [{"query": readable(one.query), "half-width": one.half_width,
                             "score": [score for score, _ in one.points],
                             "label": [label for _, label in one.points]} for one in model.targets()]
    facts |= {"scaling": _scaling(model)} | _body(model)
    lines = [f"{json.dumps(key)}: {json.dumps(value, ensure_ascii=False, allow_nan=False)}"
             for key, value in facts.items()]
    return ("{\n" + ",\n".join(lines) + "\n}\n").encode("utf-8")
