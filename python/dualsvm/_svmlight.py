"""Files of rows in svmlight format: read by the library, as the programs read them, and written."""
import ctypes
import gzip
import os
import re
from ctypes import byref, sizeof

import numpy as np

from . import _library as lib
from . import _options
from ._data import Data, Rows, matrix_of
from ._errors import DualsvmError
from ._labels import (classes_of, finite_numbers, indicator_of, is_matrix, rows_of_labels, sets_of,
                      values_of, vector, words_of)
from ._library import create, decoded, library


def read_svmlight(path, *, multilabel=False, query_id=False, n_features=None):
    """Reads a file of rows as the programs do: svmlight text, plain or gzip.

    path: the file.
    multilabel: labels are sets, separated by commas.
    query_id: also return the queries; labels are then numbers, the targets of RankSVM.
    n_features: the number of columns of X; by default the largest index in the file.

    Returns X, y, or X, y, qid with query_id. X has single precision, as the programs have: a
    scipy.sparse CSR matrix, or an array if scipy is not installed. y has integers or numbers if all
    labels are; else texts, \"\" for a row without label; None if no row has a label. With multilabel
    it is a list of sets. qid has integers, or texts if some are words; 0 if no row has one.
    """
    if multilabel and query_id:
        raise ValueError("multilabel and query_id: rows of queries have one number each")
    family = "ml" if multilabel else "rank" if query_id else "mc"
    options = _options.Options(family, lib.PREDICT)
    try:
        data = Data(create("data_read", options, lib.whole(os.fsencode(path))), None)
    except DualsvmError as error:
        if not multilabel and re.search("comma in the label|label[^:]*: '[^' ]*,", str(error)):
            raise DualsvmError("%s (for sets of labels: multilabel=True)" % error,
                               error.kind) from None
        raise
    view = lib.View()
    library.dualsvm_data_view(data, byref(view), sizeof(view))
    if n_features is not None and n_features < view.features:
        raise ValueError("n_features = %d, and %s has the index %d"
                         % (n_features, path, view.features))
    x = _features(view, view.features if n_features is None else n_features)
    if query_id:
        y = _array(view.number, np.float64, view.rows)
        return x, None if np.isnan(y).all() else y, _queries(view)
    return x, (_sets if multilabel else _labels)(view)


def _array(pointer, dtype, size):
    """A copy of an array of the library."""
    return np.frombuffer(ctypes.string_at(pointer, size * np.dtype(dtype).itemsize), dtype).copy()


def _features(view, width):
    n = view.rows
    if view.start:
        start = _array(view.start, np.int64, n + 1)
        value = _array(view.value, np.float32, start[-1])
        index = _array(view.index, np.uint32, start[-1])
        if view.feature:
            index = _array(view.feature, np.uint32, view.columns)[index]
    else:
        dense = _array(view.value, np.float32, n * view.columns).reshape(n, view.columns)
        index = np.nonzero(dense)
        start = np.concatenate([[0], np.cumsum(np.bincount(index[0], minlength=n))])
        value, index = dense[index], index[1]
    return matrix_of(value, index, start, (n, width))


def _names(names, count):
    return [decoded(names[i]) for i in range(count)]


def _labels(view):
    code = _array(view.label, np.uint32, view.rows)
    known = code != 2**32 - 1
    if not known.any():
        return None
    names = values_of(_names(view.name, view.names))
    if known.all():
        return names[code]
    if names.dtype.kind == "i":
        names = names.astype(np.float64)
    missing = np.nan if names.dtype.kind == "f" else ""
    return np.append(names, np.array([missing], dtype=names.dtype))[np.where(known, code, -1)]


def _sets(view):
    start = _array(view.label_start, np.int64, view.rows + 1)
    names = values_of(_names(view.name, view.names)).tolist()
    label = [names[code] for code in _array(view.label, np.uint32, start[-1])]
    return [set(label[first:end]) for first, end in zip(start, start[1:])] if label else None


def _queries(view):
    if not view.query:
        return np.zeros(view.rows, dtype=np.int64)
    query = _array(view.query, np.uint64, view.rows)
    names = values_of(_names(view.query_name, view.query_names)) if view.query_names else []
    word = query >= 2**63
    if not word.any():
        return query.astype(np.int64)
    texts = np.array([str(name) for name in names], dtype=object)
    found = query.astype(str).astype(object)
    found[word] = texts[(query[word] - np.uint64(2**63)).astype(np.int64)]
    return found.astype(str)


def write_svmlight(path, X, y=None, qid=None):
    """Writes a file of rows for the programs; as gzip if the name ends in .gz.

    path: the file, which is complete or not there.
    X: rows, an array or a sparse matrix (rows, columns), or matrices (rows, height, width) for
    svm-smm-train; column 0 gets the index 1.
    y: labels, numbers or texts, a list of sets of them, or a matrix (rows, labels) of 0 and 1, as
       MultiLabelRankSVM takes it; None: rows without labels.
    qid: the query of each row.

    Blanks and other characters that labels in files cannot have are written as %20 and the like.
    """
    rows = Rows(X, matrices=True)
    first = _label_words(y, rows.n)
    if qid is not None:
        qid = vector(qid, rows.n, "qid")
        if qid.dtype.kind == "f":
            finite_numbers(qid, "qid")
        different, code = np.unique(qid.astype(str) if qid.dtype.kind == "O" else qid,
                                    return_inverse=True)
        words = words_of(different)
        first = [" ".join(filter(None, (label, "qid:" + words[k])))
                 for label, k in zip(first, code.ravel())]
    path = os.fsdecode(path)
    in_place = os.path.exists(path) and not os.path.isfile(path)  # such as /dev/stdout
    part = path if in_place else "%s.%d.part" % (path, os.getpid())
    opened = gzip.open if path.endswith(".gz") else open
    try:
        with opened(part, "wt", encoding="utf-8", errors="surrogateescape", newline="\n") as file:
            if rows.shape is not None:
                file.write("# matrix %d %d\n" % rows.shape)
            for label, features in zip(first, _feature_words(rows)):
                # readers skip blank lines
                file.write((" ".join(filter(None, [label] + features)) or "1:0") + "\n")
        if not in_place:
            os.replace(part, path)
    except BaseException:
        if not in_place and os.path.exists(part):
            os.unlink(part)
        raise


def _label_words(y, n):
    """The label of each row as it is written."""
    if y is None:
        return [""] * n
    labels = rows_of_labels(y)
    if labels is not None or is_matrix(y):
        values, start, codes = indicator_of(y, n) if labels is None else sets_of(labels, n)
        words = words_of(values.tolist())
        return [",".join(words[k] for k in codes[first:end])
                for first, end in zip(start.tolist(), start.tolist()[1:])]
    y = vector(y, n)
    if y.dtype.kind == "f":
        return [_number(value) for value in finite_numbers(y).tolist()]
    classes, codes = classes_of(y, n)
    words = words_of(classes.tolist())
    return [words[k] for k in codes]


def _number(value):
    return str(int(value)) if value.is_integer() and abs(value) < 2**53 else repr(value)


def _feature_words(rows):
    """INDEX:VALUE of the values of each row that are not 0. A value is the shortest text of its
    precision."""
    single = rows.values.dtype == np.float32
    for i in range(rows.n):
        if rows.start is None:
            column, value = np.flatnonzero(rows.values[i]), rows.values[i]
            value = value[column]
        else:
            part = slice(rows.start[i], rows.start[i + 1])
            kept = rows.values[part] != 0
            column, value = rows.index[part][kept], rows.values[part][kept]
        texts = map(str, value) if single else map(repr, value.tolist())
        yield ["%d:%s" % (j, text[:-2] if text.endswith(".0") else text)
               for j, text in zip((column + 1).tolist(), texts)]
