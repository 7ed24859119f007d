"""Models of version 1 and their predictions, as doc/formats.md and doc/mathematics.md have them, in
fractions: what is printed is what the formulas give, to the last bit or to 17 digits. The programs
under test have no part in it.
"""

import struct
import zlib
from decimal import Decimal, getcontext
from fractions import Fraction

getcontext().prec = 60


# ---- numbers ----

def number(text):
    """A number of a file; it must be one that a double holds exactly."""
    value = Fraction(text)
    assert Fraction(float(value)) == value, text
    return value


def single(text):
    """The same for a float, which features are."""
    value = number(text)
    assert Fraction(struct.unpack('f', struct.pack('f', float(value)))[0]) == value, text
    return value


def decimal(value):
    return Decimal(value.numerator) / Decimal(value.denominator) \
        if isinstance(value, Fraction) else value


def exact(value):
    """The shortest text that reads back to the same double."""
    assert isinstance(value, Fraction) and Fraction(float(value)) == value, value
    text = repr(float(value))
    assert 'e' not in text, text
    return text[:-2] if text.endswith('.0') else text


def near(value):
    return format(float(decimal(value)), '.17g')


# ---- rows ----

def read_row(words):
    """INDEX:VALUE words as a dictionary."""
    return {int(w.split(':')[0]): single(w.split(':')[1]) for w in words}


class Row:
    def __init__(self, line):
        words = line.split()
        self.label = words.pop(0) if words and ':' not in words[0] else None
        self.query = int(words.pop(0)[4:]) if words and words[0].startswith('qid:') else 0
        self.has_query = 'qid:' in line
        self.x = read_row(words)


# ---- kernels ----

def dot(x, z):
    return sum((x[j] * z[j] for j in x if j in z), Fraction(0))


def exp(value):
    return decimal(value).exp()


def kernel(name, p, x, z):
    g, r = p.get('gamma'), p.get('coef0')
    indices = set(x) | set(z)
    if name == 'linear':
        return dot(x, z)
    if name == 'polynomial':
        return (g * dot(x, z) + r) ** int(p['degree'])
    if name == 'rbf':
        return exp(-g * sum((x.get(j, 0) - z.get(j, 0)) ** 2 for j in indices))
    if name == 'sigmoid':
        e = exp(2 * (g * dot(x, z) + r))
        return (e - 1) / (e + 1)
    if name == 'precomputed':
        return x.get(int(z[0]), Fraction(0))
    if name == 'tanimoto':
        return dot(x, z) / (dot(x, x) + dot(z, z) - dot(x, z))
    if name == 'minmax':
        low = sum(min(x.get(j, 0), z.get(j, 0)) for j in indices)
        high = sum(max(x.get(j, 0), z.get(j, 0)) for j in indices)
        return Fraction(low) / high
    raise ValueError(name)


def plus(a, b):
    """a + b, of which either may be a Decimal."""
    return a + b if isinstance(a, type(b)) else decimal(a) + decimal(b)


def times(a, b):
    return a * b if isinstance(a, type(b)) else decimal(a) * decimal(b)


# ---- models ----

class Model:
    """Reads the text of a model, without its last line."""

    def __init__(self, text):
        lines = text.splitlines()
        self.family = lines[0].split()[1]
        assert lines[0] == 'dualsvm %s 1' % self.family
        self.key = {}
        at = 1
        while lines[at] not in ('w', 'SV', 'SV pairs', 'scaling'):
            key, _, value = lines[at].partition(' ')
            self.key[key] = value
            at += 1
        self.n = int(self.key.get('outputs', 1))
        self.features = int(self.key['features'])
        self.body = 0
        self.scaling = []
        if lines[at] == 'scaling':
            while len(self.scaling) < self.features:
                at += 1
                self.scaling.append([number(w) for w in lines[at].split()])
            at += 1
        self.body += len(self.scaling)
        kind, rows = lines[at], lines[at + 1:]
        self.w = self.sv = self.pairs = None
        if kind == 'w':
            self.w = [[number(v) for v in line.split()] for line in rows]
            assert len(self.w) == self.features
            self.body += len(rows)
        elif kind == 'SV':
            self.sv = []
            for line in rows:
                words = line.split()
                self.sv.append(([number(v) for v in words[:self.n]], read_row(words[self.n:])))
            self.body += len(rows)
        else:
            cut = rows.index('pairs')
            self.sv = [([], read_row(line.split())) for line in rows[:cut]]
            self.pairs = [(int(u) - 1, int(v) - 1, number(c))
                          for u, v, c in (line.split() for line in rows[cut + 1:])]
            self.body += len(rows) - 1
        self.parameters = {k: number(self.key[k]) for k in ('degree', 'gamma', 'coef0')
                           if k in self.key}
        bias = [number(v) for v in self.key['bias'].split()]
        self.bias = bias if len(bias) == self.n else bias * self.n

    def signed(self, text):
        data = text.encode()
        return text + 'end %d %08x\n' % (self.body, zlib.crc32(data))

    def scaled(self, x):
        how = self.key.get('scale', 'none')
        if how == 'l2':
            square = dot(x, x)
            norm = Fraction(int(square.numerator ** .5)) / int(square.denominator ** .5)
            assert norm * norm == square
            return {j: v / norm for j, v in x.items()} if square else x
        if how == 'none':
            return x
        return {j: (x.get(j, 0) - shift) * factor
                for j, (shift, factor) in enumerate(self.scaling, 1)}

    def columns(self, row):
        """The kernel between a row and each support vector."""
        x = self.scaled(row.x)
        return [kernel(self.key['kernel'], self.parameters, x, z) for _, z in self.sv]

    def scores(self, row):
        if self.w is not None:
            x = self.scaled(row.x)
            terms = [[v * self.w[j - 1][o] for o in range(self.n)]
                     for j, v in x.items() if j <= self.features]
        else:
            terms = [[times(k, c) for c in coefficients]
                     for k, (coefficients, _) in zip(self.columns(row), self.sv)]
        result = list(self.bias)
        for term in terms:
            result = [plus(a, b) for a, b in zip(result, term)]
        return result

    def margin(self, a, b):
        """Of two rows, by the pairs' coefficients or from their scores."""
        if self.pairs is None:
            return plus(self.scores(a)[0], -self.scores(b)[0])
        k, m, total = self.columns(a), self.columns(b), Fraction(0)
        for u, v, c in self.pairs:
            total = plus(total, times(2 * c, plus(times(k[u], m[v]), -times(k[v], m[u]))))
        return total


# ---- predictions: lines of words and numbers ----

def groups(rows):
    """Numbers of the rows of each query, in the order of their first rows."""
    order = {}
    for i, row in enumerate(rows):
        order.setdefault(row.query, []).append(i)
    return order


def predict_rank(model, rows, how):
    if how == '':
        return [[model.scores(row)[0]] for row in rows]
    lines = []
    for query, members in groups(rows).items():
        if how == 'order':
            members = sorted(members, key=lambda i: (model.scores(rows[i])[0], i))
            head = ['qid:%d' % query] if any(row.has_query for row in rows) else []
            lines.append(head + [str(i + 1) for i in members])
            continue
        for at, i in enumerate(members):
            for j in members[at + 1:]:
                margin = model.margin(rows[i], rows[j])
                line = [str(i + 1), str(j + 1), margin]
                if 'probability-slope' in model.key:
                    slope = number(model.key['probability-slope'])
                    line.append(1 / (1 + exp(times(-slope, margin))))
                lines.append(line)
    return lines


def predict_top(model, rows, how):
    positive, negative = model.key['labels'].split()
    level = number(model.key.get('calibrated-threshold', model.key['threshold']))
    return [[positive if model.scores(row)[0] > level else negative, model.scores(row)[0]]
            for row in rows]


def predict_mc(model, rows, how):
    labels = model.key['labels'].split()
    lines = [['labels'] + labels] if how == 'probability' else []
    for row in rows:
        s = model.scores(row)
        best = max(range(len(s)), key=lambda c: (s[c], -c))
        line = [labels[best]]
        if how == 'scores':
            line += s
        if how == 'probability':
            e = [exp(times(number(model.key['probability-scale']), v)) for v in s]
            line += [v / sum(e) for v in e]
        lines.append(line)
    return lines


def chosen_labels(model, s):
    kind, *values = model.key['threshold'].split()
    if kind == 'top':
        order = sorted(range(len(s)), key=lambda c: (-s[c], c))
        return sorted(order[:int(values[0])])
    values = [number(v) for v in values]
    if kind == 'ew':
        level = values[-1]
        for weight, v in zip(values, s):
            level = plus(level, times(weight, v))
        levels = [level] * len(s)
    else:
        levels = {'global': values * len(s), 'scut': values, 'zero': [0] * len(s)}[kind]
    chosen = [c for c, v in enumerate(s) if v > levels[c]]
    if not chosen and model.key.get('at-least-one') == '1':
        chosen = [max(range(len(s)), key=lambda c: (s[c], -c))]
    return chosen


def predict_ml(model, rows, how):
    labels = model.key['labels'].split()
    lines = []
    for row in rows:
        s = model.scores(row)
        names = ','.join(labels[c] for c in chosen_labels(model, s))
        lines.append([names] + (s if how == 'scores' else []))
    return lines


def predict_smm(model, rows, how):
    labels = model.key['labels'].split()
    lines = []
    for row in rows:
        s = model.scores(row)
        best = int(s[0] > 0) if len(s) == 1 else max(range(len(s)), key=lambda c: (s[c], -c))
        lines.append([labels[best]] + s)
    return lines


PREDICT = {'rank': predict_rank, 'top': predict_top, 'mc': predict_mc, 'ml': predict_ml,
           'smm': predict_smm}
