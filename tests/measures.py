#!/usr/bin/env python3
"""Measures of scores by their definitions, for comparison with --metrics of the predictors of rank, top and ml.

    measures.py rank FILE SCORES [K] [gain=linear] [threshold=G] [most=G] [min=N]
    measures.py top FILE SCORES [K] [fpr=F]
    measures.py ml FILE SCORES names=A,B,...

FILE has svmlight rows, SCORES a number per line, or for ml a set of labels and a number for each name. With equal
scores a measure is its mean over all orders of these rows (of which there must not be too many).
"""
import itertools
import math
import sys


def orders(scores):
    """All orders of the rows with higher scores first."""
    ties = [[i for i, s in enumerate(scores) if s == value] for value in sorted(set(scores), reverse=True)]
    for parts in itertools.product(*(itertools.permutations(tie) for tie in ties)):
        yield [i for part in parts for i in part]


def mean(values):
    values = [v for v in values if v is not None]
    return sum(values) / len(values) if values else math.nan


def sign(x):
    return (x > 0) - (x < 0)


def ranks(x):
    return [sum(a < b for a in x) + (sum(a == b for a in x) + 1) / 2 for b in x]


def correlation(pairs):
    """Of the pairs (x, y): None where no two x differ, 0 where no two y do."""
    xx, yy = sum(x * x for x, _ in pairs), sum(y * y for _, y in pairs)
    return sum(x * y for x, y in pairs) / math.sqrt(xx * yy) if xx * yy > 0 else 0.0 if xx > 0 else None


def of_group(t, s, k, how):
    """The measures of a query's targets and scores; None: it has none."""
    n = len(t)
    pairs = [(s[i] - s[j]) for i in range(n) for j in range(n) if t[i] > t[j]]
    signs = [(sign(t[i] - t[j]), sign(s[i] - s[j])) for i in range(n) for j in range(i)]
    centre = (n + 1) / 2
    yield "pairwise-accuracy", mean((sign(d) + 1) / 2 for d in pairs) if pairs else None
    yield "kendall-tau", correlation(signs)
    yield "spearman", correlation([(x - centre, y - centre) for x, y in zip(ranks(t), ranks(s))])
    gains = [0 if g <= 0 else g if how.get("gain") else 2 ** g - 1 for g in t]
    most = float(how.get("most", 4))
    stops = [(2 ** min(g, most) - 1) / 2 ** most if g > 0 else 0 for g in t]
    relevant = [g >= float(how.get("threshold", 1)) for g in t]

    def dcg(order):
        return sum(gains[i] / math.log2(p + 2) for p, i in enumerate(order[:k]))

    def err(order):
        value, on = 0, 1
        for p, i in enumerate(order[:k]):
            value += on * stops[i] / (p + 1)
            on *= 1 - stops[i]
        return value

    def precisions(order):
        places = [p + 1 for p, i in enumerate(order) if relevant[i]]
        return mean((m + 1) / p for m, p in enumerate(places)), 1 / places[0]

    every = list(orders(s))
    best = dcg(sorted(range(n), key=lambda i: -gains[i]))
    both = [precisions(o) for o in every] if any(relevant) else []
    yield "map", mean(a for a, _ in both) if both else None
    yield "mrr", mean(b for _, b in both) if both else None
    yield "ndcg@%d" % k, mean(dcg(o) for o in every) / best if best > 0 else None
    yield "precision@%d" % k, mean(sum(relevant[i] for i in o[:k]) / k for o in every) if both else None
    yield "err@%d" % k, mean(err(o) for o in every) if best > 0 else None


def rank(rows, scores, k, how):
    groups = {}
    for words, s in zip(rows, scores):
        query = next((w for w in words if w.startswith("qid:")), "")
        groups.setdefault(query, []).append((float(words[0]), s))
    found = {}
    for group in groups.values():
        if len(group) >= int(how.get("min", 5)):
            for name, value in of_group([t for t, _ in group], [s for _, s in group], k, how):
                found.setdefault(name, []).append(value)
    return [(name, mean(values)) for name, values in found.items()]


def top(rows, lines, k, how):
    good = [float(words[0]) > 0 for words in rows]
    chosen = [float(label) > 0 for label, _ in lines]
    scores = [float(score) for _, score in lines]
    p = [s for s, y in zip(scores, good) if y]
    z = sorted((s for s, y in zip(scores, good) if not y), reverse=True)
    fpr, left, height, area = float(how.get("fpr", .2)), 0, 0, 0
    for value in sorted(set(scores), reverse=True):  # a line of the curve from one score to the next
        wide, high = z.count(value) / len(z), p.count(value) / len(p)
        part = min(wide, max(0, fpr - left))
        area += part * (height + (high * part / wide / 2 if wide else 0))
        left, height = left + wide, height + high
    every = list(orders(scores))

    def precision(order):
        places = [at + 1 for at, i in enumerate(order) if good[i]]
        return mean((m + 1) / at for m, at in enumerate(places))

    def above(threshold):
        return mean(s > threshold for s in p)

    yield "auc", mean((sign(a - b) + 1) / 2 for a in p for b in z)
    yield "pauc@%g" % fpr, area / fpr
    yield "mcclish@%g" % fpr, (1 + (area - fpr * fpr / 2) / (fpr - fpr * fpr / 2)) / 2
    for count in 1, 3:
        if count <= len(z):
            yield "tpr@%d" % count, above(sum(z[:count]) / count)
    yield "tpr@0.05", above(z[int(.05 * len(z))])
    yield "tpr@0.34", above(z[int(.34 * len(z))])
    yield "pos@top", above(z[0])
    if k <= len(rows):
        yield "precision@%d" % k, mean(sum(good[i] for i in o[:k]) / k for o in every)
    yield "average-precision", mean(precision(o) for o in every)
    yield "fpr", mean(c for c, y in zip(chosen, good) if not y)
    yield "tpr", mean(c for c, y in zip(chosen, good) if y)
    if any(chosen):
        yield "precision", mean(y for c, y in zip(chosen, good) if c)


def ml(rows, predicted, _, how):
    names = how["names"].split(",")
    found, true, chosen = {}, dict.fromkeys(names, 0), dict.fromkeys(names, 0)
    right, wrong, exact, f1 = dict.fromkeys(names, 0), 0, [], []
    for words, (labels, *scores) in zip(rows, predicted):
        relevant = set(words[0].split(",")) if words and ":" not in words[0] else set()
        taken, s = set(labels.split(",")) - {""}, dict(zip(names, map(float, scores)))
        wrong += len(relevant ^ taken)
        exact.append(relevant == taken)
        f1.append(2 * len(relevant & taken) / max(1, len(relevant) + len(taken)))
        for name in names:
            true[name] += name in relevant
            chosen[name] += name in taken
            right[name] += name in relevant & taken
        if relevant:  # equal scores are on the wrong side
            others = set(names) - relevant
            behind = {r: sum(s[k] >= s[r] for k in names) for r in relevant}
            pairs = [s[r] <= s[o] for r in relevant for o in others]
            for name, value in (("ranking-loss", mean(pairs) if pairs else None),
                                ("one-error", any(s[o] >= max(s.values()) for o in others)),
                                ("coverage", max(behind.values()) - 1),
                                ("average-precision",
                                 mean(sum(s[k] >= s[r] for k in relevant) / behind[r] for r in relevant))):
                found.setdefault(name, []).append(value)
    yield "hamming-loss", wrong / len(rows) / len(names)
    yield "subset-accuracy", mean(exact)
    yield "example-f1", mean(f1)
    yield "micro-f1", 2 * sum(right.values()) / (sum(true.values()) + sum(chosen.values()))
    yield "macro-f1", mean(2 * right[k] / max(1, true[k] + chosen[k]) for k in names)
    yield from ((name, mean(values)) for name, values in found.items())


def main():
    kind, rows, scores, *rest = sys.argv[1:]
    with open(rows, encoding="utf-8") as file:
        rows = [line.split() for line in file]
    with open(scores, encoding="utf-8") as file:
        scores = [line.removesuffix("\n").split(" ") for line in file]
    scores = [float(words[-1]) for words in scores] if kind == "rank" else scores
    k = next((int(word) for word in rest if "=" not in word), 10)
    how = dict(word.split("=") for word in rest if "=" in word)
    for name, value in {"rank": rank, "top": top, "ml": ml}[kind](rows, scores, k, how):
        print(name, repr(value))


main()
