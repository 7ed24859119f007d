"""What is in a model, in words and tables, for inspect and report."""
from lib.files import read_names
from lib.number import shortest
from lib.tool import refuse

SHOWN = ("formulation", "loss", "cost", "kernel", "degree", "gamma", "coef0", "scale", "bias", "primal", "dual",
         "gap", "certified", "solver", "labels", "targets", "targets-widths", "targets-few", "label-rows", "threshold")
MAX_LISTED = 20  # labels in a line


def listed(values):
    more = f" ... ({len(values)})" if len(values) > MAX_LISTED else ""
    return " ".join(values[:MAX_LISTED]) + more


def certificate(model):
    """What is known of the optimum, in words."""
    gap = model.number("gap")
    if model.keys.get("certified") == "yes" and gap is not None:
        return f"the optimum is at most {100 * gap:.3g}% below this model's objective: dual <= optimum <= primal"
    if model.keys["formulation"] in ("lowrank", "grill", "grill-np"):
        return "none: the problem is not convex"
    return "none: no bound of the optimum is known"


def facts(model):
    """(name, value) of the lines."""
    keys = model.keys
    loss = f", {keys['loss']}" if "loss" in keys else ""
    kernel = "".join(f", {name} {shortest(value)}" for name, value in model.parameters.items())
    yield from (("family", model.family), ("formulation", keys["formulation"] + loss), ("cost", keys["cost"]),
                ("kernel", model.kernel + kernel), ("scale", model.scale))
    if model.labels:
        yield "labels", listed(model.labels)
    for key, text in keys.items():
        if key not in SHOWN:
            yield key, text
    decision, sets, targets = model.decision(), model.label_sets(), model.targets()
    if decision:
        yield "decision", f"{decision.above} if the score is above {shortest(decision.threshold)}, " \
            f"else {decision.below}"
    if sets:
        yield "threshold", listed([sets.kind, *map(shortest, sets.values)])
    if targets:
        yield "maps-to-labels", listed([one.query for one in targets])
    yield from ((key, keys[key]) for key in ("primal", "dual", "gap"))
    yield "certificate", certificate(model)
    yield "algorithm", ", ".join(keys["solver"].split()) if "solver" in keys else "none"
    yield "options", f"{' '.join(model.options())} (incomplete: {model.omitted()})"
    if model.vectors is not None:
        yield "support-vectors", str(len(model.vectors))
        if model.pairs is not None:
            yield "pairs-of-vectors", str(len(model.pairs))
        elif model.n_outputs > 1:
            counts = [sum(bool(row[k]) for row, _ in model.vectors) for k in range(model.n_outputs)]
            yield "support-vectors-by-label", listed(list(map(str, counts)))
    else:
        scaled = " (scaled)" if model.scale != "none" else ""
        yield "nonzero-weights", \
            f"{sum(map(any, model.weights.values()))} of {model.n_features} features{scaled}"
    if any(model.bias):
        yield "bias", listed(list(map(shortest, model.bias)))


def feature_names(path, model):
    """The names in a file, at most one for each feature; none without a file."""
    names = read_names(path) if path else []
    if names and len(names) > model.n_features:
        refuse(f"{len(names)} names for the {model.n_features} features of {model.path}", path)
    return names


def largest_weights(model, top, names):
    """The header, then rows of the largest weights."""
    columns = model.labels if len(model.labels) == model.n_outputs > 1 else ["weight"]
    yield ["index", *(["name"] if names else []), *columns]
    order = sorted((index for index, row in model.weights.items() if any(row)),
                   key=lambda index: -max(map(abs, model.weights[index])))
    for index in order[:top or None]:
        name = [names[index - 1] if index <= len(names) else ""] if names else []
        yield [str(index), *name, *map(shortest, model.weights[index])]
