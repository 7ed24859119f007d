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


def repetition_of(weight, group, n_groups):
    """For families without weights of rows: the rows with repetitions, and for each group of rows, by
    the number in `group`, the weight that remains. Weights of a group are whole multiples of that."""
    which, rest, room = [], np.ones(n_groups), MOST_COPIES * len(group)
    for k in range(n_groups):
        rows = np.flatnonzero((group == k) & (weight > 0))
        unit = _unit(weight[rows]) if len(rows) else 1.0
        if unit is not None:
            rest[k], times = unit, np.rint(weight[rows] / unit)
            room -= times.sum()
        if unit is None or room < 0:
            raise ValueError("sample_weight: here rows are repeated by their weights, which are to be "
                             "multiples of one number (in MultiClassSVM of one for each class), at "
                             "most %d times as many rows in all" % MOST_COPIES)
        which.append(np.repeat(rows, times.astype(np.int64)))
    return np.sort(np.concatenate(which)), rest
