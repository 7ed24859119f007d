"""Rows: NumPy arrays and scipy.sparse matrices, which the library uses without a copy if it can."""
import sys

import numpy as np

from . import _library as lib
from ._labels import finite_numbers, names_of, vector, words_of
from ._library import address, call, create, words


def is_sparse(x):
    sparse = sys.modules.get("scipy.sparse")  # what is not loaded has made no x
    return sparse is not None and sparse.issparse(x)


class Rows:
    """Checked rows in a layout of the library: n, n_features, and references to the arrays."""

    def __init__(self, x, matrices=False):
        """matrices: x may have three axes (n, rows, columns), whose last two are flattened; shape is
        then (rows, columns)."""
        self.shape = None
        self.names = names_of(x)
        if is_sparse(x):
            self._take_sparse(x)
        else:
            self._take_dense(x, matrices)
        if self.n == 0:
            raise ValueError("Found array with 0 sample(s) (shape=%s) while a minimum of 1 is "
                             "required." % ((self.n, self.n_features),))
        if self.n_features == 0:
            raise ValueError("Found array with 0 feature(s) (shape=%s) while a minimum of 1 is "
                             "required." % ((self.n, self.n_features),))

    def _take_dense(self, x, matrices):
        x = np.asarray(x)
        x = _numbers(x)
        if matrices and x.ndim == 3:
            self.shape = x.shape[1:]
            x = x.reshape(len(x), -1)
        if x.ndim != 2:
            raise ValueError("Expected 2D array%s, got %s instead:\narray=%s.\nReshape your data "
                             "either using array.reshape(-1, 1) if your data has a single feature "
                             "or array.reshape(1, -1) if it contains a single sample."
                             % (" or an array of matrices" if matrices else "",
                                "scalar array" if x.ndim == 0 else "%dD array" % x.ndim, x))
        self.n, self.n_features = x.shape
        size = x.itemsize
        if x.strides[1] != size or x.strides[0] < size * x.shape[1] or x.strides[0] % size:
            x = np.ascontiguousarray(x)
        if not np.isfinite(x.sum(dtype=np.float64)):
            _refuse_infinite(x)
        self.values = x
        self.start = self.index = None

    def _take_sparse(self, x):
        x = x.tocsr()
        if x.dtype.kind == "c":
            raise ValueError("Complex data not supported: X")
        start = x.indptr
        if len(start) != x.shape[0] + 1 or start[0] != 0 or (np.diff(start) < 0).any() or \
                start[-1] > min(len(x.indices), len(x.data)):
            raise ValueError("X is no CSR matrix: its row starts are not ascending from 0 to the "
                             "number of its values")
        if not x.has_canonical_format:  # columns ascend, none twice
            x = x.copy()
            x.sum_duplicates()
        self.n, self.n_features = x.shape
        self.values = _numbers(x.data)
        _refuse_infinite(self.values)
        kind = np.int64 if np.int64 in (x.indptr.dtype, x.indices.dtype) else np.int32
        self.start = np.ascontiguousarray(x.indptr, dtype=kind)
        self.index = np.ascontiguousarray(x.indices, dtype=kind)

    def take(self, which):
        """Replaces the rows by those with these numbers, from 0, in this order."""
        if self.start is None:
            self.values = self.values[which]
        else:
            size = np.diff(self.start)[which]
            start = np.concatenate([[0], np.cumsum(size)])
            at = np.repeat(self.start[which] - start[:-1], size) + np.arange(start[-1])
            self.values, self.index = self.values[at], self.index[at]
            self.start = start.astype(self.start.dtype)
        self.n = len(which)

    def data(self, family, precomputed=False):
        """Data of a family, without labels."""
        kind = lib.FLOAT if self.values.dtype == np.float32 else lib.DOUBLE
        if self.start is None:
            stride = self.values.strides[0] // self.values.itemsize if self.n > 1 else \
                self.n_features
            pointer = create("data_dense", family.encode(), address(self.values), kind, self.n,
                             self.n_features, stride, lib.LENT)
        else:
            pointer = create("data_csr", family.encode(), address(self.start),
                             address(self.index),
                             int(self.start.dtype == np.int64),  # DUALSVM_INT64
                             address(self.values), kind, self.n, self.n_features, lib.LENT)
        data = Data(pointer, self)
        if precomputed:
            call("data_set_precomputed", data, None)
        return data


def _numbers(x):
    """x as floats or doubles in native byte order."""
    if x.dtype.kind == "c":
        raise ValueError("Complex data not supported: X\n%s" % x)
    if x.dtype.kind in "USO":
        try:
            return x.astype(np.float64)
        except TypeError as error:  # as scikit-learn has it
            raise TypeError("X must be numbers: argument must be a string or a number: %s"
                            % error) from None
        except ValueError as error:
            raise ValueError("X must be numbers: %s" % error) from None
    kind = np.float32 if x.dtype.kind == "f" and x.dtype.itemsize == 4 else np.float64
    return x if x.dtype == kind and x.dtype.isnative else x.astype(kind)


def _refuse_infinite(x):
    if np.isnan(x).any():
        raise ValueError("Input X contains NaN: fill in or leave out what is missing")
    if np.isinf(x).any():
        raise ValueError("Input X contains infinity or a value too large for dtype('%s')."
                         % x.dtype)


def matrix_of(value, index, start, shape):
    """A scipy.sparse CSR matrix, or an array if scipy is not installed."""
    try:
        from scipy.sparse import csr_matrix
    except ImportError:
        x = np.zeros(shape, dtype=value.dtype)
        x[np.repeat(np.arange(shape[0]), np.diff(start)), index] = value
        return x
    return csr_matrix((value, index, start), shape=shape)


class Data(lib.Handle):
    free = "data_free"

    def __init__(self, pointer, rows):
        super().__init__(pointer)
        self.rows = rows

    def set_targets(self, y):
        call("data_set_label_numbers", self, address(y))

    def set_labels(self, codes, names):
        """Sets one label per row: its number among the names."""
        call("data_set_label_codes", self, None, address(codes), words(names), len(names))

    def set_sets(self, start, codes, names):
        call("data_set_label_codes", self, address(start), address(codes), words(names),
             len(names))

    def set_queries(self, qid, name="qid"):
        """Sets queries: integers, or other values as words."""
        qid = vector(qid, self.rows.n, name)
        if qid.dtype.kind == "f" and (np.abs(qid) < 2**63).all() and (qid == np.floor(qid)).all():
            qid = qid.astype(np.int64)
        if qid.dtype.kind in "biu" and (qid >= 0).all():
            call("data_set_queries", self, address(np.ascontiguousarray(qid, dtype=np.uint64)))
            return
        if qid.dtype.kind == "f":
            finite_numbers(qid, name)
        if qid.dtype.kind == "O" and any(q is None or q != q for q in qid):
            raise ValueError("Input %s contains NaN." % name)
        different, code = np.unique(qid.astype(str) if qid.dtype.kind == "O" else qid,
                                    return_inverse=True)
        names = np.array(words_of(different), dtype=object)
        call("data_set_query_words", self, words(names[code]))

    def set_weights(self, weight):
        call("data_set_weights", self, address(weight))
