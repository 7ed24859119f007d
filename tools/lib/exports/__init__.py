"""Formats that `export` writes, one module each: write(model, name) returns the bytes of the file.

A score is f(x) = bias + sum of weights w_k x_k, or of coefficients a_i k(x_i, x), of the scaled row x.
"""
from lib.number import single
from lib.tool import refuse

MAX_DENSE = 1 << 20  # features of the formats whose rows are dense
SCALES = ("none", "std", "std-center", "minmax", "l2", "quantile")


def check_function(model, kernels=None, dense=False):
    """Refuses what a function of one row cannot be: pairs, means over queries; kernels: those that the
    format has; dense: it lists all features."""
    instead = ": --format json has all of the model"
    if model.pairs is not None:
        refuse("pair features (exterior) have no scores of rows" + instead, model.path)
    query = model.keys.get("query-features")
    if query or model.scale not in SCALES:
        option = f"--query-features {query}" if query else f"--scale {model.scale}"
        refuse(f"{option} depends on the other rows of a query, not on the row alone" + instead,
               model.path)
    if kernels is not None and model.linear_weights() is None and model.kernel not in kernels:
        refuse(f"the format has no kernel '{model.kernel}': --format c, json and onnx have it", model.path)
    if dense and model.n_features > MAX_DENSE:
        refuse(f"{model.n_features} features are too many for a format that lists all (at most "
               f"{MAX_DENSE}): --format c and json list only those that occur", model.path)


def weights_of(model):
    """linear_weights, with a weight 0 if there are none."""
    weights = model.linear_weights()
    return {1: [0.0] * model.n_outputs} if weights == {} else weights


def breakpoints(model):
    """{index: [(value, quantile)]} in single precision."""
    return {index: [(single(value), single(quantile)) for value, quantile in points]
            for index, points in model.scaling.items()}


def readable(text):
    """The text without bytes that are not UTF-8 and without control characters."""
    text = text.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
    return "".join(c if c.isprintable() else "\ufffd" for c in text)
