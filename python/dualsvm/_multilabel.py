"""MultiLabelRankSVM."""
import numpy as np

from ._base import ANOTHER_ORDER, ClassifierMixin, Estimator, fit_word, order_of, share_of
from ._labels import (check_length, classes_of, indicator_of, is_matrix, names_of, rows_of_labels,
                      sets_of, vector, words_of)
from ._weights import weights_of

SINGLE, SETS, INDICATOR = "one label a row", "sets", "indicator"


class MultiLabelRankSVM(ClassifierMixin, Estimator):
    """The multi-label Rank-SVM of Elisseeff and Weston: scores that rank the labels of each row
    before all others, and label sets from them.

    y is a list of sets of labels, or a matrix (rows, labels) of 0 and 1; predictions have the same
    form. It may also have one label per row: predictions are then the label with the largest score.
    Texts with commas, "a,b", are refused: text.split(",") makes a list of labels of them.
    Parameters have scikit-learn's names; all other options of svm-ml-train have their own names,
    such as threshold="top:3" or free_bias=True (MultiLabelRankSVM.options() lists them)."""

    _family = "ml"

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
    def _read(y, n_rows):
        """The kind of y, its labels, and those of each row: start (n_rows + 1) and codes."""
        labels = rows_of_labels(y)
        if labels is not None:
            return (SETS,) + sets_of(labels, n_rows)
        if is_matrix(y):
            return (INDICATOR,) + indicator_of(y, n_rows)
        classes, codes = classes_of(y, n_rows)
        for text in classes.tolist() if classes.dtype.kind in "OU" else []:
            if isinstance(text, str) and "," in text:
                raise ValueError("y has one text per row, and a comma in %r: several labels of a row "
                                 "are a list, [text.split(',') for text in y]; one label with a "
                                 "comma is [[text] for text in y]" % text)
        return SINGLE, classes, np.arange(n_rows + 1, dtype=np.uint64), codes

    def fit(self, X, y, sample_weight=None):
        """Fits the model to the rows of X and their labels y. A row of weight 2 is equivalent to two
        equal rows."""
        rows = self._rows_to_fit(X)
        kind, classes, start, codes = self._read(y, rows.n)
        if len(classes) < 2:
            raise ValueError("y has one class or none, and two labels at least are wanted")
        words = words_of(classes)
        options = self._option_values(rows)
        if sample_weight is not None:
            weight = weights_of(sample_weight, rows.n)
            which = np.flatnonzero(weight)  # the solver wants weights above 0
            self._take_rows(rows, which)
            sets = [codes[start[i]:start[i + 1]] for i in which]
            start = np.cumsum([0] + [len(one) for one in sets], dtype=np.uint64)
            codes = np.concatenate(sets + [codes[:0]])
            if len(np.unique(codes)) < 2:
                raise ValueError("rows of a weight above 0 have one class or none")
        data = self._data(rows)
        data.set_sets(start, codes, words)
        if sample_weight is not None:
            data.set_weights(weight[which])
        model = self._train(data, options)
        self._order = order_of(model.labels, words, len(np.unique(codes)))
        self.classes_, self._words, self._kind = classes, words, kind
        self._keep(rows, model)
        return self

    def _take_labels(self, model):
        super()._take_labels(model)
        self._kind = SETS

    def _by_class(self, columns, missing):
        """Columns in the order of classes_; `missing` (rows) for labels that no row has."""
        ordered = np.empty((len(columns), len(self.classes_)), dtype=columns.dtype)
        ordered[:] = np.reshape(missing, (-1, 1))
        ordered[:, self._order] = columns
        return ordered

    def _all_scores(self, x):
        scores = self._scores(x)
        return self._by_class(scores, scores.min(axis=1) - 1.0)

    def decision_function(self, X):
        """The score of each label (rows, labels), below all others for a label without training rows.
        If y had one of two labels per row: the second minus the first (rows)."""
        scores = self._all_scores(X)
        two = self._kind == SINGLE and len(self.classes_) == 2
        return scores[:, 1] - scores[:, 0] if two else scores

    @property
    def coef_(self):
        """Weights of a linear model (labels, features), 0 for a label without training rows; of the
        scaled features if `scale` is set (doc/python.md has those in the units of X)."""
        return self._by_class(self._weights().T, 0).T

    @property
    def intercept_(self):
        return self._by_class(self._bias()[None], 0)[0]

    @property
    def dual_coef_(self):
        """The coefficients of the support vectors of a model with a kernel (labels, support
        vectors)."""
        return self._by_class(self._support()[0], 0).T

    def predict(self, X):
        """The labels of each row: a list of sets, or a matrix of 0 and 1, as y; or the label with
        the largest score, if y had one per row."""
        data = self._data_to_predict(X)
        options = self._predict_options()
        if self._kind == SINGLE:
            return self.classes_[self._by_class(self.model_.scores(data, options),
                                                -np.inf).argmax(axis=1)]
        chosen = self._by_class(self.model_.predicted_sets(data, options), 0)
        if self._kind == INDICATOR:
            return chosen.astype(np.int64)
        classes = self.classes_.tolist()
        return [{classes[k] for k in np.flatnonzero(row)} for row in chosen]

    def score(self, X, y, sample_weight=None):
        """The share of rows with exactly the right labels."""
        predicted = self.predict(X)
        if self._kind == SETS:
            check_length(y, len(predicted))
            right = [one == set(other) for one, other in zip(predicted, y)]
        elif self._kind == INDICATOR:
            self._check_names(y)
            y = y.toarray() if hasattr(y, "toarray") else np.asarray(y)
            if y.shape != predicted.shape:
                raise ValueError("y is of the shape %s, and predictions are of %s"
                                 % (y.shape, predicted.shape))
            right = (predicted == y).all(axis=1)
        else:
            right = predicted == vector(y, len(predicted))
        return share_of(right, sample_weight)

    def _check_names(self, y):
        """Refuses a data frame whose columns are not those of fit."""
        names = names_of(y)
        if names is not None and names.tolist() != self.classes_.tolist():
            raise ValueError("the columns of y are not the labels in classes_, in their order")

    def measures(self, X, y, **options):
        """{name: value}: the measures that svm-ml-predict prints for rows with labels."""
        data = self._data_to_predict(X)
        kind, classes, start, codes = self._read(y, data.rows.n)
        if kind == self._kind == INDICATOR and len(classes) == len(self.classes_):
            self._check_names(y)
            classes = self.classes_
        known = dict(zip(self.classes_.tolist(), self._words))
        data.set_sets(start, codes,
                      [known.get(value) or fit_word(value) for value in classes.tolist()])
        return self.model_.measures(data, self._predict_options(options))

    def _more_tags(self):
        return {**super()._more_tags(), "multilabel": True, "_xfail_checks": ANOTHER_ORDER}

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_label = True
        return tags
