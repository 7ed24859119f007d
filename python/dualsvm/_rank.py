"""RankSVM."""
import numpy as np

from ._base import Estimator
from ._labels import finite_numbers, vector


class RankSVM(Estimator):
    """A RankSVM: scores that order the rows of each query like their targets.

    y are the targets. qid gives the query of each row, or a second column of y, which
    cross-validation splits with it; without both all rows belong to one query. Parameters have
    scikit-learn's names; all other options of svm-rank-train have their own names, such as
    rank_gap=(1, 5) or scale="std" (RankSVM.options() lists them)."""

    _family = "rank"

    def __init__(self, *, C=1.0, loss="hinge", kernel="linear", degree=3, gamma="auto", coef0=0.0,
                 tol=1e-3, max_iter=-1, n_jobs=None, random_state=None, **options):
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
        self._set_options(options)

    @staticmethod
    def _label(data, y, qid):
        y = y if y is None else np.asarray(y)
        if qid is None and y is not None and y.ndim == 2 and y.shape[1] == 2:
            y, qid = y[:, 0], y[:, 1]
        data.set_targets(finite_numbers(vector(y, data.rows.n)))
        if qid is not None:
            data.set_queries(qid)

    def fit(self, X, y, qid=None):
        """Fits the model to the rows of X, their targets y and queries qid."""
        rows = self._rows_to_fit(X)
        if rows.n < 2:
            raise ValueError("n_samples = 1: one row has nothing to be ordered with")
        data = self._data(rows)
        self._label(data, y, qid)
        self._keep(rows, self._train(data, self._option_values(rows)))
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

    def measures(self, X, y, qid=None, **options):
        """{name: value}: the measures that svm-rank-predict prints for rows with targets."""
        data = self._data_to_predict(X)
        self._label(data, y, qid)
        return self.model_.measures(data, self._predict_options(options))

    def score(self, X, y, qid=None):
        """The share of correctly ordered pairs with different targets within queries."""
        return self.measures(X, y, qid, min_group=1).get("pairwise-accuracy", float("nan"))

    @property
    def coef_(self):
        """Weights of a linear model (features); of the scaled features if `scale` is set."""
        return self._weights()[0]

    def _more_tags(self):
        return {**super()._more_tags(), "requires_y": True}

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        return tags
