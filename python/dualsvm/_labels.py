"""Labels and queries: conversion between Python values and the words of files.

A label in a file is a word: no blanks, commas, colons or control characters. Where labels are
texts that have such, all of them are written with %XX in place of these characters and of %, as in
addresses of the web; Python reads them back.
"""
import re

import numpy as np

from ._errors import DataConversionWarning, warn
from ._library import decoded

UNFIT = re.compile(r"[\x00-\x20\x7f,:#%]")
# int() and float() take more: 1_1, nan, inf
WHOLE = re.compile(r"[+-]?[0-9]+")
NUMBER = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?")


def is_unfit(text):
    """True for a text that cannot be a word of a file, or whose %XX would be decoded."""
    return not text or UNFIT.search(text.replace("%", "")) is not None or unquoted(text) != text


def quoted(text):
    return UNFIT.sub(lambda match: "%%%02X" % ord(match.group()), text) or "%"


def unquoted(text):
    if text == "%":
        return ""
    if re.search("%(?![0-9A-F]{2})", text):
        return text  # not written by us
    return re.sub("%([0-9A-F]{2})", lambda match: chr(int(match.group(1), 16)), text)


def word_of(value):
    """A label or query as a text: numbers as in files, True as 1."""
    if isinstance(value, (bool, np.bool_)):
        return "1" if value else "0"
    if isinstance(value, (int, np.integer)):
        return str(int(value))
    if isinstance(value, (float, np.floating)):
        return str(int(value)) if float(value).is_integer() else repr(float(value))
    return decoded(value) if isinstance(value, bytes) else str(value)


def words_of(values):
    """Distinct words for the labels, suitable for files."""
    words = [word_of(value) for value in values]
    return [quoted(word) for word in words] if any(map(is_unfit, words)) else words


def values_of(words):
    """Labels of a model file: integers or numbers, if all of them are; else texts."""
    for number, form in ((int, WHOLE), (float, NUMBER)):
        if all(form.fullmatch(word) for word in words):
            try:
                return np.array([number(word) for word in words])
            except OverflowError:
                pass
    return _array_of([unquoted(word) for word in words])


def _array_of(labels):
    """An array of texts, or of numbers. NumPy's texts lose a trailing NUL, its objects keep it."""
    lost = any(isinstance(label, str) and label.endswith("\0") for label in labels)
    return np.array(labels, dtype=object if lost else None)


def vector(y, n_rows, name="y"):
    """A one-dimensional array of n_rows values; a column is accepted with a warning."""
    if y is None:
        raise ValueError("requires %s to be passed, but the target %s is None" % (name, name))
    y = np.asarray(y)
    if y.ndim == 2 and y.shape[1] == 1:
        warn("A column-vector %s was passed when a 1d array was expected. Please change the shape "
             "of %s to (n_samples,), for example using ravel()." % (name, name),
             DataConversionWarning)
        y = y.ravel()
    if y.ndim != 1:
        raise ValueError("%s should be a 1d array, got an array of shape %s instead."
                         % (name, y.shape))
    check_length(y, n_rows)
    return y


def check_length(y, n_rows):
    if len(y) != n_rows:
        raise ValueError("Found input variables with inconsistent numbers of samples: [%d, %d]"
                         % (n_rows, len(y)))


def finite_numbers(y, name="y", nan=False):
    """An array as finite doubles, or also NaN if nan is true."""
    if y.dtype.kind == "c":
        raise ValueError("Complex data not supported: %s" % name)
    try:
        y = np.ascontiguousarray(y, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError("%s must be numbers: %s" % (name, error)) from None
    if not nan and np.isnan(y).any():
        raise ValueError("Input %s contains NaN." % name)
    if np.isinf(y).any():
        raise ValueError("Input %s contains infinity or a value too large for dtype('float64')."
                         % name)
    return y


def check_classes(y):
    """Raises ValueError unless y has classes: integers, texts, booleans."""
    if y.dtype.kind == "c":
        raise ValueError("Complex data not supported: y")
    if y.dtype.kind == "f":
        finite_numbers(y)
        if (y != np.floor(y)).any():
            raise ValueError("Unknown label type: continuous: labels are whole numbers, texts or "
                             "booleans")
    if y.dtype.kind == "O":
        for value in y:
            if value is None or isinstance(value, (float, np.floating)) and value != value:
                raise ValueError("Input y contains NaN.")
        if not (all(isinstance(value, (str, bytes)) for value in y) or
                all(isinstance(value, (bool, int, float, np.number, np.bool_)) for value in y)) or \
                len({isinstance(value, bytes) for value in y}) > 1:
            raise ValueError("Unknown label type: unknown: labels are all numbers, or all texts")
        if not isinstance(y[0], (str, bytes)):
            check_classes(y.astype(np.float64))


def classes_of(y, n_rows):
    """The distinct labels of y (n_rows), ascending, and the position of each row's label."""
    y = vector(y, n_rows)
    check_classes(y)
    classes, codes = np.unique(y, return_inverse=True)
    return classes, np.ascontiguousarray(codes.ravel(), dtype=np.uint32)


def rows_of_labels(y):
    """The rows of y if each is a collection of labels, as a list of sets; else None. Lists and tuples
    of one length of 0 and 1 are the rows of a matrix instead."""
    if isinstance(y, (list, tuple)):
        rows = y
    elif getattr(y, "ndim", None) == 1 and getattr(y, "dtype", None) == object:
        rows = np.asarray(y).tolist()
    else:
        return None
    if not len(rows) or not all(isinstance(row, (set, frozenset, list, tuple, np.ndarray))
                                for row in rows):
        return None
    if not any(isinstance(row, (set, frozenset)) for row in rows) and \
            len({len(row) for row in rows}) == 1 and all(_is_bit(value) for row in rows
                                                         for value in row):
        return None
    try:
        return [set(row) for row in rows]
    except TypeError:  # lists within lists
        raise ValueError("y should be a list of sets of labels, or a matrix of 0 and 1") from None


def _is_bit(value):
    return not isinstance(value, (str, bytes)) and np.ndim(value) == 0 and value in (0, 1)


def sets_of(y, n_rows):
    """The distinct labels of a list of sets, and the labels of each row as in CSR: start and index."""
    check_length(y, n_rows)
    labels = set().union(*y)
    values = _array_of(sorted(labels)) if _sortable(labels) else None
    if values is None or values.dtype.kind not in "biufOUS" or len(values) != len(labels):
        raise ValueError("labels are all whole numbers, or all texts")
    if len(values):
        check_classes(values)
    number = {value: code for code, value in enumerate(values.tolist())}
    start = np.zeros(n_rows + 1, dtype=np.uint64)
    np.cumsum([len(row) for row in y], out=start[1:])
    codes = [code for row in y for code in sorted(number[value] for value in row)]
    return values, start, np.array(codes, dtype=np.uint32)


def _sortable(labels):
    return (all(isinstance(label, str) for label in labels) or
            all(isinstance(label, (bool, int, float, np.number, np.bool_)) for label in labels))


def is_matrix(y):
    """True if the labels are a matrix with more than one column, or a sparse one."""
    try:
        shape = y.shape if hasattr(y, "tocsr") else np.asarray(y).shape
    except ValueError:
        raise ValueError("y has rows of different lengths: labels of rows are a list of sets, "
                         "[{1, 2}, {3}], or a matrix of 0 and 1") from None
    return len(shape) == 2 and (shape[1] > 1 or hasattr(y, "tocsr"))


def indicator_of(y, n_rows):
    """The same for a matrix (n_rows, labels) of 0 and 1, dense or sparse, or a data frame. Labels are
    the names of its columns, or their numbers."""
    names = names_of(y)
    if names is not None and len(set(names)) < len(names):
        raise ValueError("y has two columns of one name")
    if hasattr(y, "tocsr"):
        y = y.toarray()
    y = np.asarray(y)
    check_length(y, n_rows)
    if y.dtype.kind == "O":
        y = _numbers_of(y)
    if y.dtype.kind not in "biuf" or not np.isin(y, (0, 1)).all():
        raise ValueError("Unknown label type: a matrix of labels has 0 and 1 only; rows of "
                         "several labels may also be a list of sets")
    start = np.zeros(n_rows + 1, dtype=np.uint64)
    np.cumsum((y != 0).sum(axis=1), out=start[1:])
    return (np.arange(y.shape[1]) if names is None else names, start,
            np.nonzero(y)[1].astype(np.uint32))


def _numbers_of(y):
    """Objects as doubles, or as they are if not all are numbers."""
    try:
        return y.astype(np.float64)
    except (TypeError, ValueError):
        return y


def names_of(x):
    """The column names of a data frame, if all are texts; else None."""
    columns = getattr(x, "columns", None)
    if columns is None or not len(columns):
        return None
    names = np.asarray(columns, dtype=object)
    return names if all(isinstance(name, str) for name in names) else None
