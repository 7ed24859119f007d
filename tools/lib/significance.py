"""Tests of differences between methods over data sets.

Friedman's test, its F by Iman and Davenport and Nemenyi's critical difference: Demsar, "Statistical
comparisons of classifiers over multiple data sets", JMLR 2006; chi^2 is corrected for ties (Hollander and
Wolfe 1999, section 7.1). The sign test and Wilcoxon's signed ranks are exact; the interval of a mean
difference is a bootstrap's percentiles (Efron 1979). Fisher and Pitman's test of the mean by random signs:
Smucker, Allan and Carterette, "A comparison of statistical significance tests for information retrieval
evaluation", CIKM 2007.
"""
import bisect
import math
import random
from statistics import NormalDist

EXACT_SIGNS = 16  # differences up to which all signs are counted out
EXACT = 200  # differences up to which Wilcoxon's distribution is counted out
NORMAL = NormalDist()


def ranks(values):
    """Ranks from 1, smallest first; equal values share the average of theirs."""
    order = sorted(range(len(values)), key=values.__getitem__)
    rank, i = [0.0] * len(values), 0
    while i < len(order):
        j = i
        while j + 1 < len(order) and values[order[j + 1]] == values[order[i]]:
            j += 1
        for k in range(i, j + 1):
            rank[order[k]] = (i + j) / 2 + 1
        i = j + 1
    return rank


# ---- distributions ----


def chi2_above(x, k):
    """Probability of more than x by chi^2 with k degrees of freedom."""
    if x <= 0:
        return 1.0
    a, x = k / 2, x / 2
    if x < a + 1:  # series of the lower part
        term = total = 1 / a
        n = 0
        while term > total * 1e-16:
            n += 1
            term *= x / (a + n)
            total += term
        return 1 - total * math.exp(-x + a * math.log(x) - math.lgamma(a))
    b, c = x + 1 - a, 1e300  # continued fraction of the upper part
    d = h = 1 / b
    for i in range(1, 1000):
        an = -i * (i - a)
        b += 2
        d, c = 1 / (an * d + b), b + an / c
        h *= d * c
        if abs(d * c - 1) < 1e-15:
            break
    return h * math.exp(-x + a * math.log(x) - math.lgamma(a))


def _beta_fraction(a, b, x):
    c, d = 1.0, 1 / (1 - (a + b) * x / (a + 1))
    h = d
    for m in range(1, 1000):
        for an in (m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m)),
                   -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))):
            d, c = 1 / (1 + an * d), 1 + an / c
            h *= d * c
        if abs(d * c - 1) < 1e-15:
            break
    return h


def beta_part(x, a, b):
    """The regularised incomplete beta function I_x(a, b)."""
    if x <= 0 or x >= 1:
        return float(x >= 1)
    front = math.exp(math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b) + a * math.log(x)
                     + b * math.log(1 - x))
    if x < (a + 1) / (a + b + 2):
        return front * _beta_fraction(a, b, x) / a
    return 1 - front * _beta_fraction(b, a, 1 - x) / b


def f_above(f, d1, d2):
    """Probability of more than f by F with d1 and d2 degrees of freedom."""
    return 1.0 if f <= 0 else beta_part(d2 / (d2 + d1 * f), d2 / 2, d1 / 2)


def _range_below(q, k, step=0.02):
    """Probability that the range of k normal numbers is below q: k times the integral over the
    smallest."""
    total = 0.0
    for i in range(round(-8 / step), round(8 / step) + 1):
        z = i * step
        total += NORMAL.pdf(z) * (NORMAL.cdf(z + q) - NORMAL.cdf(z)) ** (k - 1) * step
    return k * total


def nemenyi_q(alpha, k):
    """The range that k normal numbers exceed with probability alpha, over sqrt(2)."""
    low, high = 0.0, 20.0
    for _ in range(40):
        middle = (low + high) / 2
        low, high = (middle, high) if 1 - _range_below(middle, k) > alpha else (low, middle)
    return low / math.sqrt(2)


# ---- all methods ----


def friedman(rows, lower):
    """Mean ranks (1 is best), chi^2 and F with their p-values, from rows with a value per method."""
    n, k = len(rows), len(rows[0])
    sums, squares = [0.0] * k, 0.0
    for row in rows:
        for j, rank in enumerate(ranks(row if lower else [-value for value in row])):
            sums[j] += rank
            squares += rank * rank
    means = [total / n for total in sums]
    # the ranks' variance; n k (k + 1) / 12 without ties, 0 if all values of each row are equal
    variance = (squares - n * k * (k + 1) ** 2 / 4) / (k - 1)
    chi2 = n * n * sum((m - (k + 1) / 2) ** 2 for m in means) / variance if variance > 0 else 0.0
    left = n * (k - 1) - chi2
    if left <= 1e-9 * n * k:
        return means, chi2, chi2_above(chi2, k - 1), math.inf, 0.0
    f = (n - 1) * chi2 / left
    return means, chi2, chi2_above(chi2, k - 1), f, f_above(f, k - 1, (k - 1) * (n - 1))


# ---- two methods ----


def sign_test(wins, losses):
    """Two-sided p-value of the sign test."""
    n = wins + losses
    tail = sum(math.comb(n, i) for i in range(min(wins, losses) + 1))
    return min(1.0, 2 * tail / 2**n)


def wilcoxon(differences):
    """Two-sided p-value of Wilcoxon's signed-rank test; differences of 0 are omitted, equal sizes share their
    ranks. Exact up to 200 differences, beyond by the normal approximation."""
    kept = [d for d in differences if d != 0]
    n = len(kept)
    if n == 0:
        return 1.0
    rank = ranks([abs(d) for d in kept])
    doubled = [round(2 * r) for r in rank]
    above = sum(r for r, d in zip(doubled, kept) if d > 0)
    total = sum(doubled)
    least = min(above, total - above)
    if n <= EXACT:
        # bits of one number: counts of sums, n + 1 bits each
        width = n + 1
        counts = 1
        for r in doubled:
            counts += counts << (r * width)
        mask = (1 << width) - 1
        tail = sum(counts >> (s * width) & mask for s in range(least + 1))
        return min(1.0, 2 * tail / 2**n)
    variance = sum(r * r for r in doubled) / 4
    z = (least - total / 2 + 1) / math.sqrt(variance)
    return min(1.0, math.erfc(-z / math.sqrt(2)))


def randomisation(differences, samples, seed):
    """Two-sided p-value of Fisher and Pitman's test: the share of assignments of signs to the differences
    whose sum is at least as large as the observed one. All assignments for few differences, else random
    ones, of which the observed one is one. Sums that differ by rounding errors are equal."""
    kept = [abs(d) for d in differences if d != 0]
    observed = abs(math.fsum(differences)) - 1e-12 * sum(kept)
    if len(kept) <= EXACT_SIGNS:
        sums = [0.0]
        for d in kept:
            sums = [s + d for s in sums] + [s - d for s in sums]
        return sum(abs(s) >= observed for s in sums) / len(sums)
    draw, total, hits = random.Random(seed), sum(kept), 1
    for _ in range(samples):
        bits = draw.getrandbits(len(kept))
        hits += abs(total - 2 * sum(d for i, d in enumerate(kept) if bits >> i & 1)) >= observed
    return hits / (samples + 1)


def bootstrap(differences, alpha, resamples, seed):
    """The bootstrap interval of the mean."""
    draw = random.Random(seed)
    n = len(differences)
    means = sorted(math.fsum(draw.choices(differences, k=n)) / n for _ in range(resamples))
    first = int(math.floor(alpha / 2 * resamples))
    return means[first], means[resamples - 1 - first]


def holm(probabilities):
    """p-values adjusted for the number of tests (Holm 1979)."""
    order = sorted(range(len(probabilities)), key=probabilities.__getitem__)
    adjusted, most = [0.0] * len(order), 0.0
    for place, i in enumerate(order):
        most = max(most, min(1.0, (len(order) - place) * probabilities[i]))
        adjusted[i] = most
    return adjusted


# ---- measures of predictions ----


def pairwise_accuracy(labels, scores):
    """The share of pairs with different labels that scores order correctly, with equal scores
    counting half; None without such pairs."""
    order = sorted(range(len(labels)), key=labels.__getitem__)
    below, right, pairs, i = [], 0.0, 0, 0
    while i < len(order):
        j = i
        while j < len(order) and labels[order[j]] == labels[order[i]]:
            j += 1
        group = [scores[row] for row in order[i:j]]
        for score in group:
            left = bisect.bisect_left(below, score)
            right += left + (bisect.bisect_right(below, score, left) - left) / 2
        pairs += len(group) * len(below)
        for score in group:
            bisect.insort(below, score)
        i = j
    return right / pairs if pairs else None
