"""Curves of true against false positives: from the files of svm-top-predict --roc, or from
predictions and the labels of their rows.

Rows with equal scores stand in no order: between two thresholds a curve is the mean over all
orders, a straight line in counts. It is no straight line on a logarithmic axis, nor in precision
against recall, and is drawn through points between.
"""
from typing import List, NamedTuple, Optional, Tuple

from lib.evaluation import read_predictions, read_scores
from lib.files import Source, names_of
from lib.number import is_number
from lib.svmlight import read_rows
from lib.table import Table
from lib.tool import quoted, refuse

BETWEEN = 60  # points between two corners that are not above or beside each other


class Curve(NamedTuple):
    """Corners from (0, 0) to (1, 1), and the counts if they are known."""

    name: str
    corners: List[Tuple[float, float]]  # (false positive rate, true positive rate)
    n_positive: Optional[int] = None
    n_negative: Optional[int] = None


def add_options(parser):
    parser.add_argument("curves", nargs="+", metavar="file",
                        help="a file of svm-top-predict --roc, or predictions with --truth")
    parser.add_argument("--truth", metavar="FILE",
                        help="the test file of the predictions, with the true labels")
    parser.add_argument("--positive", metavar="LABEL",
                        help="with --truth: the label of positives (default numbers above 0)")
    parser.add_argument("--column", type=int, metavar="N",
                        help="with --truth: the column of the scores, from 1 (default the last of "
                        "one or two, without the names of --names)")
    parser.add_argument("--names", metavar="NAME,...", help="names of the curves (default: of their files)")


def read_curves(options, parser):
    """The curves of the options' files."""
    paths = options.curves
    names = names_of(paths, options.names, parser)
    if options.truth is None and (options.positive is not None or options.column is not None):
        parser.error("--positive, --column: only with --truth")
    if options.truth is None:
        return [read_corners(path, name) for path, name in zip(paths, names)]
    truth = [is_positive(row.label, options, line)
             for line, row in read_rows(Source(options.truth))]
    if all(truth) or not any(truth):
        refuse("all rows are positive" if truth and truth[0] else "no row is positive", options.truth)
    all_scores = (read_scores(read_predictions(path, len(truth), options.truth), path, options.column)
                  for path in paths)
    return [curve_of(name, scores, truth) for name, scores in zip(names, all_scores)]


def is_positive(label, options, line):
    """Whether a label is positive, as in svm-top-predict: the given label, or numbers above 0."""
    if not label:
        refuse("row has no label", options.truth, line)
    if options.positive is not None:
        if label == options.positive:
            return True
        return is_number(label) and is_number(options.positive) and \
            float(label) == float(options.positive)
    if not is_number(label):
        refuse("label is not a number: --positive LABEL names that of positives: " + quoted(label),
               options.truth, line)
    return float(label) > 0


def read_corners(path, name):
    table = Table(path)
    if table.columns[:2] != ["fpr", "tpr"]:
        refuse("not a curve of svm-top-predict --roc (fpr tpr threshold); predictions need --truth",
               path, 1)
    corners = [(0.0, 0.0)]
    for line, fields in table.rows():
        corner = tuple(table.number(fields, column, line) for column in ("fpr", "tpr"))
        if not all(0 <= rate <= 1 for rate in corner):
            refuse("rate is not from 0 to 1", path, line)
        if corner[0] < corners[-1][0] or corner[1] < corners[-1][1]:
            refuse("rate is below the one before", path, line)
        if corner != corners[-1]:
            corners.append(corner)
    if corners[-1] != (1, 1):
        refuse("does not end at 1 1: the curve is cut", path)
    return Curve(name, corners)


def is_precision_table(path):
    """Whether the file is one of svm-top-predict --pr."""
    return path != "-" and Table(path).columns[:2] == ["recall", "precision"]


def read_precisions(path):
    """The points (recall, precision) of such a file; the last has the share of positives."""
    table = Table(path)
    points = []
    for line, fields in table.rows():
        point = tuple(table.number(fields, column, line) for column in ("recall", "precision"))
        if not all(0 <= rate <= 1 for rate in point):
            refuse("rate is not from 0 to 1", path, line)
        points.append(point)
    if not points or points[-1][0] != 1:
        refuse("does not end at a recall of 1: the curve is cut", path)
    return points


def curve_of(name, scores, truth):
    order = sorted(range(len(scores)), key=lambda i: -scores[i])
    n_positive = sum(truth)
    n_negative = len(truth) - n_positive
    corners, true, false = [(0.0, 0.0)], 0, 0
    for place, i in enumerate(order):
        true += truth[i]
        false += not truth[i]
        if place + 1 == len(order) or scores[order[place + 1]] != scores[i]:
            corners.append((false / n_negative, true / n_positive))
    return Curve(name, corners, n_positive, n_negative)


def area(curve):
    """The area under the ROC curve: the share of ordered pairs, with equal scores counting half."""
    return sum((x1 - x0) * (y0 + y1) / 2
               for (x0, y0), (x1, y1) in zip(curve.corners, curve.corners[1:]))


def precisions(curve):
    """(recall, precision) along the curve, with points between corners."""
    points = []
    for (x0, y0), (x1, y1) in zip(curve.corners, curve.corners[1:]):
        n = BETWEEN if x1 > x0 and y1 > y0 and (y1 - y0) * curve.n_positive > 1.5 else 1
        for k in range(0 if not points else 1, n + 1):
            true = (y0 + (y1 - y0) * k / n) * curve.n_positive
            false = (x0 + (x1 - x0) * k / n) * curve.n_negative
            if true + false > 0:
                points.append((true / curve.n_positive, true / (true + false)))
    first = points[0]
    return [(0.0, first[1]), *points] if first[0] > 0 else points


def average_precision(curve):
    """The mean over positives of the precision at their positions; equal scores count as their average
    over all orders (McSherry and Najork 2008), as in svm-top-predict."""
    total, true, false = 0.0, 0, 0
    for x, y in curve.corners[1:]:
        r = round(y * curve.n_positive) - true
        m = r + round(x * curve.n_negative) - false
        others = (r - 1) / (m - 1) if m > 1 else 0
        for k in range(1, m + 1 if r else 1):
            total += r / m * (true + 1 + (k - 1) * others) / (true + false + k)
        true, false = true + r, false + m - r
    return total / curve.n_positive


def thinned(points, x_step, y_step):
    """Points without those that a picture cannot show: closer than a step to the previous one."""
    kept = [points[0]]
    for point, after in zip(points[1:], points[2:] + [None]):
        if after is None or abs(point[0] - kept[-1][0]) > x_step or \
                abs(point[1] - kept[-1][1]) > y_step:
            kept.append(point)
    return kept
