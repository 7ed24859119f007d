"""RankSVM."""
from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from . import _library as lib
from . import _options
from ._base import Estimator, fit_word
from ._labels import finite_numbers, vector, words_of
from ._library import words
from ._model import check_fitted
from ._weights import weights_of

TIME_WEIGHT = 0.2  # the library's default


class RankedCandidates(NamedTuple):
    """Arrays (rows) of candidates of measured features."""

    order_score: np.ndarray  # the score by the model
    score: np.ndarray  # of MS/MS, order and time together; the best of a feature has 0
    rank: np.ndarray  # mid-rank within the feature, from 1 for the best


class PredictedInterval(NamedTuple):
    """Arrays (rows) of predicted targets, NaN for rows of queries that the model does not know."""

    value: np.ndarray
    low: np.ndarray  # with high the interval that holds 90% of new rows
    high: np.ndarray


class RankSVM(Estimator):
    """A RankSVM: scores that order the rows of each query like their targets.

    y are the targets. qid gives the query of each row, or a second column of y, which
    cross-validation splits with it; without both all rows belong to one query. Parameters have
    scikit-learn's names; all other options of svm-rank-train have their own names, such as
    rank_gap=(1, 5) or scale="std" (RankSVM.options() lists them)."""

    _family = "rank"

    def __init__(self, *, C=1.0, loss="hinge", kernel="linear", degree=3, gamma="auto", coef0=0.0,
                 tol=1e-3, max_iter=-1, n_jobs=None, random_state=None,
                 verbose=False, **options):
        self.C = C
        self.loss = loss
        self.kernel = kernel
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0
        self.tol = tol
        self.max_iter = max_iter
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose
        self._set_options(options)

    @staticmethod
    def _label(data, y, qid):
        y, qid = _split(y, qid)
        data.set_targets(finite_numbers(vector(y, data.rows.n)))
        if qid is not None:
            data.set_queries(qid)

    def fit(self, X, y, qid=None, sample_weight=None):
        """Fits the model to the rows of X, their targets y and queries qid. sample_weight: the weight
        of each row's query, the same in all its rows."""
        rows = self._rows_to_fit(X)
        options = self._option_values(rows)
        y, qid = _split(y, qid)
        if sample_weight is not None:
            weight = weights_of(sample_weight, rows.n)
            which = np.flatnonzero(weight)
            self._take_rows(rows, which)
            y = None if y is None else vector(y, len(weight))[which]
            qid = None if qid is None else vector(qid, len(weight), "qid")[which]
            _weigh_queries(options, self.C, weight[which], qid)
        if rows.n < 2:
            raise ValueError("n_samples = %d%s: an order takes two rows"
                             % (rows.n, "" if sample_weight is None else " with a weight above 0"))
        data = self._data(rows)
        self._label(data, y, qid)
        self._keep(rows, self._train(data, options))
        return self

    def predict(self, X, qid=None):
        """The score of each row: of two rows of a query the higher one is predicted to have the
        larger target. Where query_features="mean" was given they depend on the query's other rows:
        X then has all of them, and qid says which they are."""
        data = self._queried(X, qid)
        return self.model_.scores(data, self._predict_options())[:, 0]

    def decision_function(self, X, qid=None):
        """The same as predict."""
        return self.predict(X, qid)

    def _queried(self, X, qid):
        data = self._data_to_predict(X)
        if qid is not None:
            data.set_queries(qid)
        return data

    def predict_text(self, X, qid=None, **options):
        """The text that svm-rank-predict writes for these rows with these options."""
        data = self._queried(X, qid)
        return self.model_.text(data, self._predict_options(options))

    def predict_pairs(self, X, qid=None):
        """Any two rows i < j of a query: an array (pairs, 2) of them, counted from 0, and margins
        (pairs), positive where i has the larger score; of a model with probability=1 also the
        probabilities that i has the larger target."""
        text = self.predict_text(X, qid, pairs=True)
        fields = len(text.split("\n", 1)[0].split()) or 3
        table = np.array(text.split(), dtype=np.float64).reshape(-1, fields)
        return (table[:, :2].astype(np.int64) - 1,) + tuple(table[:, k] for k in range(2, fields))

    def predict_interval(self, X, qid=None, **options):
        """The target of each row, such as a retention time in minutes, with an interval that holds 90%
        of new rows: PredictedInterval. For models with targets=1; qid: the query of each row, one of
        those of fit, or of those in the file that standards=FILE names."""
        check_fitted(self)
        if self.model_.value("targets") is None:
            raise ValueError("predict_interval wants a model that was fitted with targets=1")
        lines = [line.split() for line in self.predict_text(X, qid, **options).splitlines()]
        return PredictedInterval(*np.array(lines, dtype=np.float64)[:, 1:4].T)

    def rerank(self, X, scores, features, times, runs=None, order_weight=0.25,
               time_weight=TIME_WEIGHT, edges="hinge", trees=0, seed=1, system=None):
        """Ranks the candidates of measured features as svm-rank-candidates does, by their MS/MS
        scores and by the order in which the model says that they elute. Returns RankedCandidates.

        A row of X is a candidate of the feature in `features`, with its MS/MS score in `scores`;
        NaN or -inf: it has none, and gets the lowest of its feature. times: the measured minutes
        of the features, {feature: minutes} or an array with a value per row; features without a
        time, or with NaN, are ranked by MS/MS scores alone. runs: their runs, in the same two
        forms; features of different runs are not compared, and those that `runs` does not have are
        of one more run. None: all are of one run. The other parameters are options of
        svm-rank-candidates; a time_weight that is not the default wants a model with targets=1
        that knows a run, or `system`."""
        data = self._data_to_predict(X)
        data.set_targets(_scores_of(scores, data.rows.n))
        features = vector(features, data.rows.n, "features")
        data.set_queries(features, "features")
        minutes = finite_numbers(_by_row(times, features, "times"), "times", nan=True)
        names = None if runs is None else words(
            [_run_of(run) for run in _by_row(runs, features, "runs").tolist()])
        values = {"order-weight": order_weight, "edges": edges, "trees": trees, "seed": seed,
                  "threads": self._option_n_jobs(self.n_jobs),
                  "system": None if system is None else fit_word(system)}
        if time_weight != TIME_WEIGHT:
            values["time-weight"] = time_weight
        options = _options.make(self._family, lib.CANDIDATES, values)
        return RankedCandidates(*self.model_.ranked_candidates(data, options, minutes, names))

    def measures(self, X, y, qid=None, **options):
        """{name: value}: the measures that svm-rank-predict prints for rows with targets."""
        data = self._data_to_predict(X)
        self._label(data, y, qid)
        return self.model_.measures(data, self._measure_options(options))

    def score(self, X, y, qid=None):
        """The share of correctly ordered pairs with different targets within queries."""
        return self.measures(X, y, qid, min_group=1).get("pairwise-accuracy", float("nan"))

    @property
    def dual_coef_(self):
        """The coefficients of the support vectors of a model with a kernel (support vectors)."""
        return self._support()[0][:, 0]

    @property
    def coef_(self):
        """Weights of a linear model (features); of the scaled features if `scale` is set
        (doc/python.md has those in the units of X)."""
        return self._weights()[0]

    def _more_tags(self):
        return {**super()._more_tags(), "requires_y": True, "_xfail_checks": {
            "check_sample_weights_not_overwritten": "rows of a query have one weight"}}

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        return tags


def _split(y, qid):
    """Targets and queries, which may be a second column of y."""
    y = y if y is None else np.asarray(y)
    two = qid is None and y is not None and y.ndim == 2 and y.shape[1] == 2
    return (y[:, 0], y[:, 1]) if two else (y, qid)


def _weigh_queries(options, cost, weight, qid):
    """Sets the weights of queries by the weights of their rows, all above 0."""
    if "weight" in options:
        raise ValueError("sample_weight, or weight: not both")
    different, first, code = np.unique(np.zeros(len(weight)) if qid is None else qid,
                                       return_index=True, return_inverse=True)
    if (weight != weight[first][code.ravel()]).any():
        raise ValueError("sample_weight: rows of a query have different weights")
    if qid is None:
        options["cost"] = cost * float(weight[0]) if len(weight) else cost
    else:
        options["weight"] = dict(zip(words_of(different.tolist()), weight[first].tolist()))


def _scores_of(scores, n_rows):
    """MS/MS scores as doubles, NaN where there is none."""
    scores = vector(scores, n_rows, "scores")
    if scores.dtype.kind in "fO":
        scores = np.where(scores == -np.inf, np.nan, scores)
    return finite_numbers(scores, "scores", nan=True)


def _by_row(values, features, name):
    """An array with a value per row, also from a mapping of features, whose other values are None."""
    if isinstance(values, Mapping):
        found = np.empty(len(features), dtype=object)
        found[:] = [values.get(feature) for feature in features.tolist()]
        return found
    return vector(values, len(features), name)


def _run_of(run):
    """The name of a run as the library has it; None: the run without a name."""
    return None if run is None or run != run or run == "" else fit_word(run)
