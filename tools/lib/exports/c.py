"""A C99 file without dependencies but the standard library. Sums are in double, like those of the programs'
plain reference, common/kernel/table.c."""
import re

from lib.exports import check_function, weights_of
from lib.number import shortest

# What is summed over the features of a row x and a support vector z, and the kernel of these sums.
KERNELS = {
    "polynomial": ("a * b", "integer_power({gamma} * sum + {coef0}, {degree})"),
    "rbf": ("(a - b) * (a - b)", "exp(-{gamma} * sum)"),
    "sigmoid": ("a * b", "tanh({gamma} * sum + {coef0})"),
    "laplacian": ("fabs(a - b)", "exp(-{gamma} * sum)"),
    "rational": ("fabs(a - b)", "1 / (1 + {gamma} * sum)"),
    "tanimoto": ("a * b", "all > 0 ? sum / all : 1"),
    "minmax": ("fmin(a, b)", "all > 0 ? sum / all : 1"),
}
ALL = {"tanimoto": "a * a + b * b - a * b", "minmax": "fmax(a, b)"}  # the sum that a ratio divides by


def number(value):
    """A literal of type double."""
    text = shortest(value)
    return text if re.search("[.e]", text) else text + ".0"


def string(text):
    """A literal; what is not plain ASCII stands in octal."""
    data = text.encode("utf-8", "surrogateescape")
    return '"' + "".join(chr(byte) if 32 <= byte < 127 and byte not in b'"\\?' else f"\\{byte:03o}"
                         for byte in data) + '"'


def array(declaration, values, storage="static const "):
    """A constant array, its values in lines of at most 100 columns."""
    lines, line = [], "   "
    for value in values:
        if len(line) + len(value) > 97:
            lines.append(line)
            line = "   "
        line += f" {value},"
    return f"{storage}{declaration} = {{\n" + "\n".join([*lines, line]) + "\n};\n"


FIND = """\
/* The position of a feature in a list of n ascending indices; n if it is not there. */
static size_t find(const uint32_t *list, size_t n, uint32_t index) {
    size_t low = 0, high = n;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (list[middle] < index) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low < n && list[low] == index ? low : n;
}
"""

AFFINE = """\
/* The scaled value of a feature, by its position in scaled_index. */
static float scaled(size_t c, double value) {
    return (float)((value - shift[c]) * factor[c]);
}
"""

QUANTILE = """\
/* The scaled value of a feature, by its position in scaled_index: its quantile, interpolated. */
static float scaled(size_t c, double value) {
    size_t low = point_start[c], high = point_start[c + 1] - 1;
    if (value <= (double)point_value[low]) {
        return 0;
    }
    if (value >= (double)point_value[high]) {
        return point_quantile[high];
    }
    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;
        if ((double)point_value[middle] <= value) {
            low = middle;
        } else {
            high = middle;
        }
    }
    double from = (double)point_value[low], rank = (double)point_quantile[low];
    double part = (value - from) / ((double)point_value[high] - from);
    return (float)(rank + part * ((double)point_quantile[high] - rank));
}
"""

LENGTH = """\
    double length = 0;
    for (size_t i = 0; i < n; i++) {
        length += (double)value[i] * (double)value[i];
    }
    length = length > 0 ? sqrt(length) : 1;
"""

KERNEL = """\
/* The kernel of a row and the support vector whose features are those from `at` to `end`. */
static double kernel(const uint32_t *index, const float *value, size_t n, size_t at, size_t end) {
    double sum = 0%(all)s;
    for (size_t i = 0; i < n || at < end;) {
        uint64_t row = i < n ? (index ? index[i] : (uint64_t)i + 1) : UINT64_MAX;
        uint64_t vector = at < end ? vector_index[at] : UINT64_MAX;
        double a = row <= vector ? %(value)s : 0;
        double b = vector <= row ? (double)vector_value[at++] : 0;
        i += row <= vector;
        sum += %(term)s;
%(sum_all)s    }
    return %(kernel)s;
}
"""

POWER = """\
static double integer_power(double base, int exponent) {
    double power = 1;
    for (int i = 0; i < exponent; i++) {
        power *= base;
    }
    return power;
}
"""

LINEAR_SCORES = """\
    for (size_t k = 0; k < OUTPUTS; k++) {
        scores[k] = bias[k];
    }
%(length)s    for (size_t i = 0; i < n; i++) {
        size_t c = find(weight_index, WEIGHTS, index ? index[i] : (uint32_t)i + 1);
        if (c == WEIGHTS) {
            continue;
        }
        double x = %(value)s;
        for (size_t k = 0; k < OUTPUTS; k++) {
            scores[k] += x * weight[c][k];
        }
    }
"""

SCALED_ROW = """\
    float x[SCALED];
    for (size_t c = 0; c < SCALED; c++) {
        x[c] = scaled(c, 0);
    }
    for (size_t i = 0; i < n; i++) {
        size_t c = find(scaled_index, SCALED, index ? index[i] : (uint32_t)i + 1);
        if (c < SCALED) {
            x[c] = scaled(c, (double)value[i]);
        }
    }
"""

LINEAR_SCALED_SCORES = SCALED_ROW + """\
    for (size_t k = 0; k < OUTPUTS; k++) {
        scores[k] = bias[k];
        for (size_t c = 0; c < SCALED; c++) {
            scores[k] += (double)x[c] * weight[c][k];
        }
    }
"""

KERNEL_SCORES = """\
%(row)s    for (size_t k = 0; k < OUTPUTS; k++) {
        scores[k] = bias[k];
    }
    for (size_t j = 0; j < VECTORS; j++) {
        double value_j = kernel(%(arguments)s, vector_start[j], vector_start[j + 1]);
        for (size_t k = 0; k < OUTPUTS; k++) {
            scores[k] += value_j * coefficient[j][k];
        }
    }
"""


def _scaling(model):
    """Arrays and function of the scaling by column."""
    indices = list(model.scaling)
    parts = [array("uint32_t scaled_index[SCALED]", map(str, indices))]
    if model.scale != "quantile":
        for name, at in (("shift", 0), ("factor", 1)):
            parts.append(array(f"double {name}[SCALED]", (number(model.scaling[i][0][at]) for i in indices)))
        return parts + [AFFINE]
    starts, points = [0], []
    for i in indices:
        points += model.scaling[i]
        starts.append(len(points))
    return parts + [array("size_t point_start[SCALED + 1]", map(str, starts)),
                    array("float point_value[]", (number(value) + "f" for value, _ in points)),
                    array("float point_quantile[]", (number(rank) + "f" for _, rank in points)), QUANTILE]


def _rows(rows):
    return ("{" + ", ".join(map(number, row)) + "}" for row in rows)


def _linear(model, weights):
    """Arrays of a linear model, and the body of its scores."""
    if model.scaling is not None:
        zero = [0.0] * model.n_outputs
        return ([array("double weight[SCALED][OUTPUTS]", _rows(weights.get(i, zero) for i in model.scaling))],
                LINEAR_SCALED_SCORES)
    unit = model.scale == "l2"
    body = LINEAR_SCORES % {"length": LENGTH if unit else "",
                            "value": "(double)(float)((double)value[i] / length)" if unit
                            else "(double)value[i]"}
    return [array("uint32_t weight_index[WEIGHTS]", map(str, weights)),
            array("double weight[WEIGHTS][OUTPUTS]", _rows(weights.values()))], body


def _kernel(model):
    """Arrays and function of a model with support vectors, and the body of its scores."""
    starts, pairs = [0], []
    for _, row in model.vectors:
        pairs += row
        starts.append(len(pairs))
    pairs = pairs or [(1, 0.0)]  # an array has at least one element
    parts = [array("size_t vector_start[VECTORS + 1]", map(str, starts)),
             array("uint32_t vector_index[]", (str(index) for index, _ in pairs)),
             array("float vector_value[]", (number(value) + "f" for _, value in pairs)),
             array("double coefficient[VECTORS][OUTPUTS]", _rows(row for row, _ in model.vectors))]
    term, kernel = KERNELS[model.kernel]
    kernel = kernel.format(**{name: number(value) if name != "degree" else f"{value:.0f}"
                              for name, value in model.parameters.items()})
    unit = model.scale == "l2"
    every = ALL.get(model.kernel)
    if model.kernel == "polynomial":
        parts.append(POWER)
    function = KERNEL % {"all": ", all = 0" if every else "", "term": term, "kernel": kernel,
                         "value": "(double)(float)((double)value[i] / length)" if unit
                         else "(double)value[i]",
                         "sum_all": f"        all += {every};\n" if every else ""}
    arguments = "scaled_index, x, SCALED" if model.scaling is not None else "index, value, n"
    if unit:
        function = function.replace("size_t n, ", "size_t n, double length,\n                     ")
        arguments += ", length"
    row = SCALED_ROW if model.scaling is not None else LENGTH if unit else ""
    return [*parts, function], KERNEL_SCORES % {"row": row, "arguments": arguments}


LABEL = """\
const char *%(name)s_label(const double *scores) {
    %(body)s
}
"""

LARGEST = """\
size_t best = 0;
    for (size_t k = 1; k < OUTPUTS; k++) {
        best = scores[k] > scores[best] ? k : best;
    }
    return %(name)s_labels[best];"""

PROBABILITIES = """\
void %(name)s_probabilities(const double *scores, double *probabilities) {
    double largest = scores[0], sum = 0;
    for (size_t k = 1; k < OUTPUTS; k++) {
        largest = fmax(largest, scores[k]);
    }
    for (size_t k = 0; k < OUTPUTS; k++) {
        probabilities[k] = exp(%(scale)s * (scores[k] - largest));
        sum += probabilities[k];
    }
    for (size_t k = 0; k < OUTPUTS; k++) {
        probabilities[k] /= sum;
    }
}
"""

REST = """\
    size_t n = 0;
    for (size_t k = 0; k < OUTPUTS; k++) {
        n += chosen[k];
    }
    while (n < %(least)s) { /* the largest score that is not chosen yet */
        size_t best = OUTPUTS;
        for (size_t k = 0; k < OUTPUTS; k++) {
            if (!chosen[k] && (best == OUTPUTS || scores[k] > scores[best])) {
                best = k;
            }
        }
        chosen[best] = 1;
        n++;
    }
"""

SETS = """\
void %(name)s_set(const double *scores, unsigned char *chosen) {
%(level)s    for (size_t k = 0; k < OUTPUTS; k++) {
        chosen[k] = %(chosen)s;
    }
%(rest)s}
"""


def _decisions(model, name):
    """(prototype, comment, definition) of the functions of scores."""
    parts = []
    decision, sets = model.decision(), model.label_sets()
    if decision:
        body = f"return scores[0] > {number(decision.threshold)} ? {string(decision.above)} : " \
               f"{string(decision.below)};"
    else:
        body = LARGEST % {"name": name}
    if model.labels and not sets:
        parts.append((f"const char *{name}_label(const double *scores)", "The predicted label.",
                      LABEL % {"name": name, "body": body}))
    if "probability-scale" in model.keys:
        scale = number(model.number("probability-scale"))
        parts.append((f"void {name}_probabilities(const double *scores, double *probabilities)",
                      f"Probabilities of the classes, in the order of {name}_labels.",
                      PROBABILITIES % {"name": name, "scale": scale}))
    if sets:
        level = {"ew": f"    static const double w[] = {{{', '.join(map(number, sets.values))}}};\n"
                       "    double level = w[OUTPUTS];\n"
                       "    for (size_t k = 0; k < OUTPUTS; k++) {\n"
                       "        level += w[k] * scores[k];\n    }\n",
                 "scut": f"    static const double level[] = {{{', '.join(map(number, sets.values))}}};\n"}
        chosen = {"ew": "scores[k] > level", "scut": "scores[k] > level[k]", "zero": "scores[k] > 0",
                  "global": f"scores[k] > {number(sets.values[0]) if sets.values else 0}", "top": "0"}
        least = min(int(sets.values[0]), model.n_outputs) if sets.kind == "top" else int(sets.at_least_one)
        parts.append((f"void {name}_set(const double *scores, unsigned char *chosen)",
                      f"Sets chosen[k] to 1 if {name}_labels[k] is in the predicted set, else to 0.",
                      SETS % {"name": name, "level": level.get(sets.kind, ""),
                              "chosen": chosen[sets.kind], "rest": REST % {"least": least} if least else ""}))
    return parts


def _comment(*lines):
    return "/* " + "\n * ".join(lines) + " */\n"


def write(model, name):
    check_function(model)
    weights = weights_of(model)
    arrays, body = _linear(model, weights) if weights is not None else _kernel(model)
    sizes = {"OUTPUTS": model.n_outputs}
    if model.scaling is not None:
        sizes["SCALED"] = len(model.scaling)
        arrays = _scaling(model) + arrays
    elif weights is not None:
        sizes["WEIGHTS"] = len(weights)
    if weights is None:
        sizes["VECTORS"] = len(model.vectors)
    decisions = _decisions(model, name)
    prototype = f"void {name}_scores(const uint32_t *index, const float *value, size_t n, double *scores)"
    what = [f"A model of svm-{model.family}-train as C, by tools/export: kernel {model.kernel}, scaling "
            f"{model.scale},", f"{model.n_features} features. Declarations:", ""]
    if model.labels:
        what.append(f"    extern const char *const {name}_labels[{len(model.labels)}];")
    what += [f"    {one};" for one in [prototype, *(one for one, _, _ in decisions)]]
    parts = [_comment(*what), "#include <math.h>\n#include <stddef.h>\n#include <stdint.h>\n",
             "enum { " + ", ".join(f"{key} = {value}" for key, value in sizes.items()) + " };\n"]
    if model.labels:
        labels = f"const char *const {name}_labels[{len(model.labels)}]"
        parts.append(f"extern {labels};\n" + array(labels, map(string, model.labels), ""))
    if model.scaling is not None or weights is not None:
        parts.append(FIND)
    parts += [array("double bias[OUTPUTS]", map(number, model.bias)), *arrays]
    parts.append(_comment(
        f"The {model.n_outputs} scores of a row of n features: value[i] is that of feature index[i]; indices",
        "count from 1 and ascend, and features that are not there are 0. index NULL: value[i] is that",
        "of feature i + 1.") + f"{prototype};\n{prototype} {{\n{body}}}\n")
    parts += [_comment(comment) + f"{one};\n{text}" for one, comment, text in decisions]
    return "\n".join(parts).encode("ascii")
