"""Tables of sweeps (doc/formats.md)."""
import re

from lib.number import is_number
from lib.table import Table
from lib.tool import refuse

# The trainers' options that can be swept, by their columns; all other columns are measures.
PARAMETERS = ("formulation", "loss", "kernel", "cost", "lambda", "nu", "degree", "gamma", "coef0", "bias",
              "top-k", "tau", "theta", "rank", "pairs", "cost-per", "scale", "margin-scale", "max-sv", "solver",
              "rank-gap", "threshold", "positive", "epsilon")
BESIDE = ("gap", "seconds", "folds", "iterations", "point", "rows", "shard", "fits", "run")
LOWER = ("hamming-loss", "ranking-loss", "one-error", "coverage", "log-loss", "matrix-rank", "gap", "seconds")
REPORT = re.compile(r"[a-z-]+ = ")  # of the fit that follows a sweep


def sd_column(columns, measure):
    """The column of the measure's standard deviation, or None."""
    for name in (f"{measure}-sd", f"sd-{measure}", f"{measure}_sd", f"sd({measure})", f"{measure}:sd"):
        if name in columns:
            return name
    return None


def measures_of(columns):
    """The columns of measures, without their standard deviations."""
    deviations = [sd_column(columns, column) for column in columns]
    return [column for column in columns if column and column not in PARAMETERS + BESIDE
            and column not in deviations]


def measure_of(columns, wanted, path):
    """The wanted measure, or the first one if it is None."""
    measures = measures_of(columns)
    if not measures:
        refuse("has no measure", path, 1)
    measure = wanted or measures[0]
    if measure not in columns or measure in PARAMETERS:
        refuse(f"there is no measure '{measure}' (measures: {', '.join(measures)})", path, 1)
    return measure


def read_points(paths):
    """All rows as dicts of text; tables may be joined shards with repeated headers."""
    columns, points = None, []
    for path in paths:
        table = Table(path)
        if columns is not None and table.columns != columns:
            refuse(f"its columns are not those of {paths[0]}", path, 1)
        columns = table.columns
        if not ({"point", *PARAMETERS} - {"threshold"}) & set(columns):  # curves have thresholds too
            refuse("not the table of a sweep (point, parameters, measures)", path, 1)
        for line, fields in table.rows(REPORT):
            if fields != columns:
                points.append(dict(zip(columns, fields)) | {"": (path, line)})
    if not points:
        refuse("has no points", paths[0])
    return columns, points


def order(text):
    return (0, float(text), "") if is_number(text) else (1, 0.0, text)


def distinct(points, column):
    """Distinct values (1 and 1.0 are equal), in ascending order."""
    values = {}
    for point in points:
        values.setdefault(order(point[column]), point[column])
    return [values[key] for key in sorted(values)]


def varying(columns, points):
    """The parameters, among these columns, that have several values."""
    return [column for column in columns if column in PARAMETERS and len(distinct(points, column)) > 1]


def measured(point, column):
    """The number, or None if the cell is empty or has no number."""
    text = point[column]
    if text in ("", "nan", "-nan", "none"):
        return None
    if not is_number(text):
        path, line = point[""]
        refuse(f"{column}: not a number: '{text}'", path, line)
    return float(text)


def best_of(points, column, lower):
    """The point with the best measure, or None."""
    have = [point for point in points if measured(point, column) is not None]
    if not have:
        return None
    return (min if lower else max)(have, key=lambda point: measured(point, column))
