"""sample_weight: a row of weight 2 is equivalent to two equal rows."""
import numpy as np

from ._labels import finite_numbers

MOST_COPIES = 20  # rows after repetition, by rows before
MOST_PARTS = 16


def weights_of(weight, n_rows):
    """The weights of rows as doubles."""
    weight = np.asarray(weight)
    if weight.ndim == 0:
        weight = np.full(n_rows, weight)
    if weight.ndim != 1:
        raise ValueError("Sample weights must be 1D array or scalar")
    if len(weight) != n_rows:
        raise ValueError("sample_weight.shape == %s, expected %s!" % (weight.shape, (n_rows,)))
    weight = finite_numbers(weight, "sample_weight")
    if (weight < 0).any():
        raise ValueError("sample_weight has a negative weight")
    return weight


def _unit(weight):
    """The largest number of which all weights, above 0, are whole multiples, or None."""
    for parts in range(1, MOST_PARTS + 1):
        unit = weight.min() / parts
        if np.allclose(weight / unit, np.rint(weight / unit), rtol=1e-12, atol=0):
            return unit
    return None


def repetition_of(weight):
    """For families without weights of rows: the rows with repetitions, and the weight that remains, of
    which all weights are whole multiples."""
    rows = np.flatnonzero(weight)
    unit = _unit(weight[rows]) if len(rows) else 1.0
    times = None if unit is None else np.rint(weight[rows] / unit)
    if unit is None or times.sum() > MOST_COPIES * len(weight):
        raise ValueError("sample_weight: here rows are repeated by their weights, which are to be "
                         "multiples of one number, at most %d times as many rows in all"
                         % MOST_COPIES)
    return np.repeat(rows, times.astype(np.int64)), unit
