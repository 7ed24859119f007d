#!/usr/bin/env python3
"""A plain, slow re-ranking of candidates by retention order, for comparison with svm-rank-candidates.

    candidates.py rank CANDIDATES SCORES TIMES [edges=hinge] [order-weight=1] [trees=all] [by=enumeration]
    candidates.py check FOUND CANDIDATES SCORES TIMES [ties=exact] [the options of rank]
    candidates.py trees FOUND N CANDIDATES SCORES TIMES [edges=hinge] [order-weight=1]
    candidates.py time FOUND SCORES TIMES TIME-WEIGHT
    candidates.py table CANDIDATES SCORES TIMES TRUTH order-weight=D,... [edges=hinge] [trees=all]
    candidates.py compare EXPECTED-TABLE FOUND-TABLE
    candidates.py measures FOUND TRUTH COLUMN
    candidates.py make SEED FOLDER
    candidates.py self

CANDIDATES has svmlight rows (label: MS/MS score, qid: feature, comment: name), SCORES a line of svm-rank-predict for
each row, TIMES the lines feature, minutes and perhaps run. rank prints the table that the program must print without a
time term: max-marginals of the chain, or with trees=all their mean over all spanning trees; by=enumeration lists all
assignments of candidates to features, by=messages passes messages along the edges. check compares a table with it,
trees one of N random trees with the mean over all, time one of equal MS/MS scores and no order weight with the time
terms of the predicted minutes. table prints the measures of each order weight, and last a line with the mean reciprocal
rank left-one-feature-out; compare compares two of them. measures prints those of the column `score` or `ms-score`.
make writes a small random problem. self compares enumeration and messages. Shares no code with the programs."""
import itertools
import math
import os
import random
import statistics
import sys

HEADER = ["feature", "candidate", "ms-score", "order-score", "score", "rank"]
MEASURES = ["top-1", "top-5", "top-10", "top-20", "mrr"]
EQUAL = 1e-9  # scores that differ by less are equal: rounding errors are far below, differences far above


# ---- files ----

class Row:
    """A candidate: feature, name, MS/MS score as read, score of the model, unary term, score."""
    def __init__(self, feature, name, label, f):
        self.feature, self.name, self.label, self.f = feature, name, label, f
        self.theta = self.score = self.rank = None


def read_candidates(path, scores_path):
    scores = [float(line.split()[0]) for line in open(scores_path, encoding="utf-8")]
    rows = []
    for line in open(path, encoding="utf-8"):
        text, _, comment = line.partition("#")
        words = text.split()
        if not words:
            continue
        label = math.nan if ":" in words[0] else float(words.pop(0))
        assert words[0].startswith("qid:"), line
        rows.append(Row(words[0][4:], comment.strip() or str(len(rows) + 1), label, scores[len(rows)]))
    assert len(rows) == len(scores), (len(rows), len(scores))
    return rows


def is_number(word):
    try:
        return math.isfinite(float(word))
    except ValueError:
        return False


def read_times(path):
    """The run and the minutes of each feature."""
    lines = [line.rstrip("\r\n").split("\t") for line in open(path, encoding="utf-8")]
    if not is_number(lines[0][1]):
        lines.pop(0)
    return {line[0]: (line[2] if len(line) > 2 else "", float(line[1])) for line in lines}


def read_table(path):
    lines = [line.rstrip("\n").split("\t") for line in open(path, encoding="utf-8")]
    assert all(len(line) == len(lines[0]) for line in lines), "%s: lines of different numbers of fields" % path
    return lines[0], [dict(zip(lines[0], line)) for line in lines[1:]]


def read_truth(path):
    return dict(line.rstrip("\n").split("\t") for line in open(path, encoding="utf-8"))


# ---- the model ----

def by_feature(rows):
    """The rows of each feature, features in the order of their first rows."""
    features = {}
    for row in rows:
        features.setdefault(row.feature, []).append(row)
    return features


def set_unary_terms(features):
    """Scores divided by the mean of their standard deviations, in which a candidate without a score has no part."""
    deviations = []
    for rows in features.values():
        known = [row.label for row in rows if math.isfinite(row.label)]
        lowest = min(known) if known else 0.0
        for row in rows:
            row.theta = row.label if math.isfinite(row.label) else lowest
        if len(set(known)) > 1:
            deviations.append(statistics.pstdev(known))
    unit = sum(deviations) / len(deviations) if deviations else 1.0
    for rows in features.values():
        for row in rows:
            row.theta /= unit


def log_sigmoid(x):
    return -math.log1p(math.exp(-x)) if x >= 0 else x - math.log1p(math.exp(x))


def edge(first, second, how):
    """The potential of a candidate of the earlier and one of the later feature."""
    if how["edges"] == "hinge":
        return -how["order-weight"] * max(0.0, first.f - second.f)
    return how["order-weight"] * log_sigmoid(second.f - first.f)


def chain(names, minutes):
    """The edges (earlier, later) of features of one run, in the order of the file: the first of each group of equal
    times with all of the next group, and the others of the first group with the first of the second."""
    groups = [[name for name in names if minutes[name] == value] for value in sorted({minutes[n] for n in names})]
    edges = [(before[0], name) for before, group in zip(groups, groups[1:]) for name in group]
    return edges + [(name, groups[1][0]) for name in groups[0][1:] if len(groups) > 1]


def spanning_trees(names, minutes):
    pairs = [(a, b) for a in names for b in names if minutes[a] < minutes[b]]
    if not pairs:
        return [[]]
    trees = []
    for edges in itertools.combinations(pairs, len(names) - 1):
        reached = {names[0]}
        for _ in names:
            reached.update(name for pair in edges for name in pair if reached.intersection(pair))
        if len(reached) == len(names):
            trees.append(list(edges))
    return trees


def enumerate_marginals(features, edges, how):
    """The largest sum of the potentials over all assignments with each candidate."""
    names = list(features)
    best = {row: -math.inf for rows in features.values() for row in rows}
    for assignment in itertools.product(*features.values()):
        chosen = dict(zip(names, assignment))
        total = sum(row.theta for row in assignment)
        total += sum(edge(chosen[a], chosen[b], how) for a, b in edges)
        for row in assignment:
            best[row] = max(best[row], total)
    return best


def message_marginals(features, edges, how):
    """The same of a tree, or of several, by messages; the potentials of other trees are left out."""
    known = {}

    def neighbours(name):
        return [b if a == name else a for a, b in edges if name in (a, b)]

    def message(source, target):
        if (source, target) not in known:
            inner = [message(other, source) for other in neighbours(source) if other != target]
            sums = [row.theta + sum(m[i] for m in inner) for i, row in enumerate(features[source])]
            before = (source, target) in edges
            known[source, target] = [
                max(value + (edge(row, to, how) if before else edge(to, row, how))
                    for value, row in zip(sums, features[source])) for to in features[target]]
        return known[source, target]

    best = {}
    for name, rows in features.items():
        incoming = [message(other, name) for other in neighbours(name)]
        for i, row in enumerate(rows):
            best[row] = row.theta + sum(m[i] for m in incoming)
    return best


def marginals_of_trees(features, times, how):
    """For each run, a list of the max-marginals of each of its trees."""
    marginals = {"enumeration": enumerate_marginals, "messages": message_marginals}[how["by"]]
    runs = {}
    for name in features:
        runs.setdefault(times[name][0] if name in times else (name, "without a time"), []).append(name)
    minutes = {name: times[name][1] if name in times else 0.0 for name in features}
    for names in runs.values():
        trees = spanning_trees(names, minutes) if how["trees"] == "all" else [chain(names, minutes)]
        yield [marginals({name: features[name] for name in names}, edges, how) for edges in trees]


def mid_rank(score, scores, equal=EQUAL):
    """The rank of one of the scores, with the largest first, the mean rank for equal ones."""
    return 1 + sum(s > score + equal for s in scores) + (sum(abs(s - score) <= equal for s in scores) - 1) / 2


def mid_ranks(scores):
    return [mid_rank(score, scores) for score in scores]


def set_scores(features, times, how):
    for trees in marginals_of_trees(features, times, how):
        for row in trees[0]:
            row.score = sum(tree[row] for tree in trees) / len(trees)
    for rows in features.values():
        best = max(row.score for row in rows)
        for row, rank in zip(rows, mid_ranks([row.score for row in rows])):
            row.score, row.rank = row.score - best, rank


def rank(rows, times, how):
    features = by_feature(rows)
    set_unary_terms(features)
    set_scores(features, times, how)


def print_table(rows):
    print("\t".join(HEADER))
    for row in rows:
        print("%s\t%s\t%r\t%r\t%r\t%r" % (row.feature, row.name, row.label, row.f, row.score, row.rank))


# ---- comparisons ----

def near(a, b, tolerance):
    return abs(a - b) <= tolerance * (1 + abs(b)) or a == b or (math.isnan(a) and math.isnan(b))


def check_own_ranks(rows, equal):
    """Asserts that ranks are mid-ranks of the scores beside them."""
    features = {}
    for row in rows:
        features.setdefault(row["feature"], []).append(row)
    for group in features.values():
        scores = [float(row["score"]) for row in group]
        for row, score in zip(group, scores):
            expected = mid_rank(score, scores, equal)
            assert float(row["rank"]) == expected, ("rank is not %s" % expected, row)


def check(found_path, rows, ties):
    """With ties other than exact, scores that are equal but for rounding may have any ranks of their common ones."""
    header, found = read_table(found_path)
    expected = [dict(zip(HEADER, map(str, [r.feature, r.name, r.label, r.f, r.score, r.rank]))) for r in rows]
    assert header == HEADER, header
    assert len(found) == len(expected), "%d rows, not %d" % (len(found), len(expected))
    for f, e in zip(found, expected):
        assert f["feature"] == e["feature"] and f["candidate"] == e["candidate"], (f, e)
        assert near(float(f["ms-score"]), float(e["ms-score"]), 0) or e["ms-score"] == "-inf", ("ms-score", f, e)
        assert near(float(f["order-score"]), float(e["order-score"]), 1e-12), ("order-score", f, e)
        assert near(float(f["score"]), float(e["score"]), EQUAL), ("score", f, e)
        same = [r for r in expected if r["feature"] == e["feature"] and r["rank"] == e["rank"]]
        spread = 0 if ties == "exact" else (len(same) - 1) / 2
        assert abs(float(f["rank"]) - float(e["rank"])) <= spread, ("rank", f, e)
    check_own_ranks(found, EQUAL if ties == "exact" else 0)


def check_trees(found_path, count, rows, times, how):
    """A score is the least of m(r) - m(s) over candidates s of the feature, where m is the mean of a max-marginal over
    the trees drawn. Its error is at most the largest error of these differences. Each is a mean of independent draws,
    with the standard deviation of the difference over all trees, divided by sqrt(count): five of these are allowed,
    which normal errors exceed once in two million."""
    features = by_feature(rows)
    set_unary_terms(features)
    tolerance, apart = {}, []
    for trees in marginals_of_trees(features, times, how):
        for row in trees[0]:
            deviation = max(statistics.pstdev([tree[row] - tree[other] for tree in trees])
                            for other in features[row.feature])
            tolerance[row] = 5 * deviation / math.sqrt(count) + EQUAL
        for tree in trees:
            means = {row: sum(t[row] for t in trees) / len(trees) for row in tree}
            best = {row: (max(means[r] for r in features[row.feature]), max(tree[r] for r in features[row.feature]))
                    for row in tree}
            apart.append(max(abs(means[row] - best[row][0] - tree[row] + best[row][1]) / tolerance[row]
                             for row in tree))
    assert min(apart) > 3, "trees hardly differ from their mean: the problem tests nothing"
    set_scores(features, times, how)
    _, found = read_table(found_path)
    assert len(found) == len(rows), (len(found), len(rows))
    best = {}
    for f in found:
        best[f["feature"]] = max(best.get(f["feature"], -math.inf), float(f["score"]))
    for row, f in zip(rows, found):
        score = float(f["score"]) - best[row.feature]
        assert abs(score - row.score) <= tolerance[row], (f, score, row.score, tolerance[row])
    check_own_ranks(found, 0)


def check_time(found_path, scores_path, times_path, weight):
    """With equal MS/MS scores and no order weight a score is E times the time term less that of the feature's best
    candidate, where the time term is -min(z^2 / 2, cap). The cap is found from the lowest score of all. Minutes are
    printed with seven digits."""
    _, found = read_table(found_path)
    times = read_times(times_path)
    quantile = statistics.NormalDist().inv_cdf(.95)  # 1.645: half the width of a 90% interval, in sigmas
    terms = []
    for row, line in zip(found, open(scores_path, encoding="utf-8")):
        _, minutes, _, high = map(float, line.split())
        terms.append(-(((times[row["feature"]][1] - minutes) / ((high - minutes) / quantile)) ** 2) / 2)
    best = {row["feature"]: max(t for r, t in zip(found, terms) if r["feature"] == row["feature"]) for row in found}
    values = [float(row["score"]) / weight + best[row["feature"]] for row in found]
    cap = -min(values)
    assert all(-b < cap for b in best.values()), "every candidate of a feature is beyond the cap"
    capped = [term < -cap - 1e-3 for term in terms]
    assert 0 < sum(capped) < len(capped), "the cap is never reached, or by all"
    for row, term, value in zip(found, terms, values):
        assert near(value, max(term, -cap), 1e-4), (row, term, value, cap)


# ---- measures ----

def measures(ranks):
    """Of the ranks of the right candidates, infinite where there is none."""
    return [sum(r <= k for r in ranks) / len(ranks) for k in (1, 5, 10, 20)] + [sum(1 / r for r in ranks) / len(ranks)]


def right_ranks(rows, truth):
    ranks = {(row.feature, row.name): row.rank for row in rows}
    return [ranks.get(pair, math.inf) for pair in truth.items()]


def table(rows, times, truth, how):
    weights = [0.0] + [float(word) for word in how["order-weight"].split(",")]
    points = []
    for weight in weights:
        rank(rows, times, dict(how, **{"order-weight": weight}))
        points.append(right_ranks(rows, truth))
    print("\t".join(["order-weight", "time-weight", "features"] + MEASURES))
    for weight, ranks in zip(weights, points):
        print("\t".join("%.17g" % value for value in [weight, 0, len(ranks)] + measures(ranks)))
    left_out = []
    for i in range(len(truth)):
        best = max(points, key=lambda ranks: sum(1 / r for k, r in enumerate(ranks) if k != i))
        left_out.append(best[i])
    print("left-one-feature-out\t\t%d" % len(truth), *["%.17g" % m for m in measures(left_out)], sep="\t")


def compare(expected_path, found_path):
    _, expected = read_table(expected_path)
    header, found = read_table(found_path)
    assert header == ["order-weight", "time-weight", "features"] + MEASURES, header
    assert len(found) == len(expected) - 1, "%d points, not %d" % (len(found), len(expected) - 1)
    for f, e in zip(found, expected):
        for key in header:
            assert near(float(f[key]), float(e[key]), 1e-4), (key, f, e)


def print_measures(found_path, truth_path, column):
    truth = read_truth(truth_path)
    features = {}
    for row in read_table(found_path)[1]:
        features.setdefault(row["feature"], []).append(row)
    ranks = []
    for feature, name in truth.items():
        group = features.get(feature, [])
        scores = [float(row[column]) for row in group]
        own = max((s for s, row in zip(scores, group) if row["candidate"] == name), default=None)
        ranks.append(math.inf if own is None else mid_rank(own, scores))
    for name, value in zip(MEASURES, measures(ranks)):
        print(name, "%.17g" % value)


# ---- random problems ----

def make(seed, folder):
    """Files candidates.svm, predict.svm (the same with labels that every program reads) and times.tsv: up to six
    features with equal scores, equal times, candidates without a score, features without a time, two runs."""
    draw = random.Random(seed)
    count, coarse = draw.randrange(1, 7), draw.randrange(2)
    lines, names = [], ["F%d" % i for i in range(count)]
    for name in names:
        lowest = draw.randrange(4)
        for i in range(draw.choice([1, 2, 3, 4, 5])):
            label = "%.2f" % (draw.randrange(5) / 4) if coarse else "%.6f" % draw.uniform(-2, 2)
            label = draw.choice([label] * 6 + [["nan", "-inf", ""][lowest % 3]])
            x = draw.randrange(1, 17) / (4 if coarse else 8)
            comment = draw.choice([" # %s/%d" % (name, i)] * 4 + [""])
            lines.append((label, "qid:%s 1:%g%s\n" % (name, x, comment)))
    draw.shuffle(lines)
    with open(os.path.join(folder, "candidates.svm"), "w", encoding="utf-8") as file:
        file.writelines((label + " " if label else "") + rest for label, rest in lines)
    with open(os.path.join(folder, "predict.svm"), "w", encoding="utf-8") as file:
        file.writelines("0 " + rest for _, rest in lines)
    runs = draw.choice([1, 1, 2])
    known = [name for i, name in enumerate(names) if i == 0 or draw.randrange(8)]
    with open(os.path.join(folder, "times.tsv"), "w", encoding="utf-8") as file:
        file.write(draw.choice(["", "feature\tminutes%s\n" % ("\trun" if runs > 1 else "")]))
        draw.shuffle(known)
        for name in known + ["unknown"] * draw.randrange(2):
            run = "\trun%d" % draw.randrange(2) if runs > 1 else ""
            file.write("%s\t%g%s\n" % (name, draw.randrange(1, 6) / 2, run))


def compare_methods():
    """Enumeration and messages agree on random chains and trees, and on a case by hand."""
    draw = random.Random(3)
    for trial in range(300):
        features = {}
        times = {}
        for i in range(draw.randrange(1, 5)):
            name = "F%d" % i
            features[name] = [Row(name, str(k), draw.randrange(5) / 4, draw.randrange(9) / 4)
                              for k in range(draw.randrange(1, 5))]
            times[name] = (draw.choice("ab") if trial % 5 == 0 else "a", draw.randrange(4))
        set_unary_terms(features)
        how = {"edges": draw.choice(["hinge", "sigmoid"]), "order-weight": draw.choice([0, .3, 1, 10]),
               "trees": draw.choice(["0", "all"])}
        # enumeration over a run is over all its trees and single features at once: constants may differ
        found = []
        for method in ("enumeration", "messages"):
            set_scores(features, times, dict(how, by=method))
            found.append([(row.score, row.rank) for rows in features.values() for row in rows])
        for (s, r), (t, q) in zip(*found):
            assert abs(s - t) < 1e-12 and r == q, (trial, s, t, r, q)
    # theta 1 and 0 for f = 2 and 0, then f = 1: at D = .25 the first loses .25, at D = 2 it loses 2 of its lead of 1
    a, b, c = Row("A", "a", 0, 2.0), Row("A", "b", 0, 0.0), Row("B", "c", 0, 1.0)
    a.theta, b.theta, c.theta = 1.0, 0.0, 0.0
    for weight, score in ((.25, (0, -.75)), (2, (-1, 0)), (1, (0, 0))):
        set_scores({"A": [a, b], "B": [c]}, {"A": ("", 1.0), "B": ("", 2.0)},
                   {"edges": "hinge", "order-weight": weight, "trees": "0", "by": "messages"})
        assert (a.score, b.score) == score, (weight, a.score, b.score)
    assert (a.rank, b.rank) == (1.5, 1.5)
    assert chain(list("ABC"), {"A": 1, "B": 1, "C": 1}) == []
    assert chain(list("ABCD"), {"A": 5, "B": 5, "C": 6, "D": 6}) == [("A", "C"), ("A", "D"), ("B", "C")]
    minutes = {"A": 1, "B": 2, "C": 3, "D": 3}
    assert chain(list("DBCA"), minutes) == [("A", "B"), ("B", "D"), ("B", "C")]
    assert len(spanning_trees(list("ABC"), minutes)) == 3
    assert len(spanning_trees(list("ABCD"), minutes)) == 8  # the complete graph has 16, half of them with C-D
    print("ok: enumeration and messages agree")


def main():
    command, *words = sys.argv[1:]
    options = dict(word.split("=", 1) for word in words if "=" in word and os.path.sep not in word)
    names = [word for word in words if "=" not in word or os.path.sep in word]
    how = dict({"edges": "hinge", "order-weight": "1", "trees": "0", "by": "enumeration"}, **options)
    sys.setrecursionlimit(10000)
    if command != "table":
        how["order-weight"] = float(how["order-weight"])
    if command == "rank":
        rows = read_candidates(names[0], names[1])
        rank(rows, read_times(names[2]), how)
        print_table(rows)
    elif command == "check":
        rows = read_candidates(names[1], names[2])
        rank(rows, read_times(names[3]), how)
        check(names[0], rows, how.get("ties"))
    elif command == "trees":
        check_trees(names[0], int(names[1]), read_candidates(names[2], names[3]), read_times(names[4]),
                    dict(how, trees="all", by="messages"))
    elif command == "time":
        check_time(names[0], names[1], names[2], float(names[3]))
    elif command == "table":
        table(read_candidates(names[0], names[1]), read_times(names[2]), read_truth(names[3]), how)
    elif command == "compare":
        compare(*names)
    elif command == "measures":
        print_measures(*names)
    elif command == "make":
        make(int(names[0]), names[1])
    elif command == "self":
        compare_methods()
    else:
        sys.exit(__doc__)


main()
