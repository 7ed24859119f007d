#!/usr/bin/env python3
"""A plain, slow solver for multi-class SVMs, for comparison with svm-mc-train.

    mc.py FORMULATION BIAS EPSILON FILE

Conditional gradient on the dual (doc/mathematics, "mc"), at C = 1 and without a kernel: the alpha of one row at
a time moves towards the vertex of its feasible set that its scores select, by an exact line search. Prints
primal, dual and gap when the gap is EPSILON. Shares no code with the programs."""
import sys

# relative margins; scores sum to 0; a term for the row's class; terms for the others; maximum instead of sum
FORMULATIONS = {
    "ww": (True, False, False, True, False), "cs": (True, False, False, True, True),
    "llw": (False, True, False, True, False), "adm": (False, True, False, True, True),
    "atm": (False, True, True, True, True), "ats": (False, True, True, True, False),
    "mmr": (False, True, True, False, False), "ova": (False, False, True, True, False)}


class Problem:
    def __init__(self, formulation, bias, path):
        self.relative, self.centred, self.own, self.others, self.largest = FORMULATIONS[formulation]
        with open(path) as lines:
            rows = [line.split() for line in lines]
        labels = sorted({row[0] for row in rows})
        values = [dict(map(float, pair.split(":")) for pair in row[1:]) for row in rows]
        features = sorted({f for row in values for f in row})
        self.x = [[row.get(f, 0) for f in features] + [bias] for row in values]
        self.y = [labels.index(row[0]) for row in rows]
        self.k = len(labels)
        self.w = [[0.0] * len(self.x[0]) for _ in labels]
        self.alpha = [[0.0] * self.k for _ in rows]

    def scores(self, x):
        return [sum(a * b for a, b in zip(w, x)) for w in self.w]

    def slopes(self, y, s):
        """Of the dual by the alpha of a row; 0 where there is no term."""
        terms = [self.own if c == y else self.others for c in range(self.k)]
        margins = [s[y] - s[c] if self.relative else s[c] if c == y else -s[c] for c in range(self.k)]
        return [1 - m if term else 0 for m, term in zip(margins, terms)]

    def loss(self, slopes):
        return max(0, *slopes) if self.largest else sum(max(0, v) for v in slopes)

    def vertex(self, slopes):
        best = max(slopes)
        first = slopes.index(best)
        return [float(v > 0 and (c == first or not self.largest)) for c, v in enumerate(slopes)]

    def coefficients(self, y, alpha):
        u = [-a for a in alpha]
        u[y] = sum(alpha) if self.relative else alpha[y]
        mean = sum(u) / self.k if self.centred else 0
        return [v - mean for v in u]

    def step(self, i):
        x, y = self.x[i], self.y[i]
        slopes = self.slopes(y, self.scores(x))
        change = [v - a for v, a in zip(self.vertex(slopes), self.alpha[i])]
        u = self.coefficients(y, change)
        rise = sum(a * b for a, b in zip(slopes, change))
        curvature = sum(v * v for v in x) * sum(v * v for v in u)
        length = min(1, rise / curvature) if curvature > 0 else 1
        self.alpha[i] = [a + length * c for a, c in zip(self.alpha[i], change)]
        for w, v in zip(self.w, u):
            for f, value in enumerate(x):
                w[f] += length * v * value

    def bounds(self):
        square = sum(v * v for w in self.w for v in w) / 2
        losses = sum(self.loss(self.slopes(y, self.scores(x))) for x, y in zip(self.x, self.y))
        return square + losses, sum(map(sum, self.alpha)) - square


def main():
    problem = Problem(sys.argv[1], float(sys.argv[2]), sys.argv[4])
    best, gap = float("inf"), 1
    while gap > float(sys.argv[3]):
        for i in range(len(problem.x)):
            problem.step(i)
        primal, dual = problem.bounds()
        best = min(best, primal)
        gap = (best - dual) / best
    print("primal %.17g\ndual %.17g\ngap %.17g" % (best, dual, gap))


main()
