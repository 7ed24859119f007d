"""MultiLabelRankSVM."""
import numpy as np

from ._base import ANOTHER_ORDER, ClassifierMixin, Estimator, fit_word, order_of, share_of
from ._labels import (classes_of, indicator_of, is_matrix, names_of, rows_of_labels, sets_of,
                      words_of)
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

    def _chosen(self, X):
        """The labels predicted for each row, as True (rows, labels)."""
        data = self._data_to_predict(X)
        options = self._predict_options()
        if self._kind == SINGLE:
            best = self._by_class(self.model_.scores(data, options), -np.inf).argmax(axis=1)
            return best[:, None] == np.arange(len(self.classes_))
        return self._by_class(self.model_.predicted_sets(data, options), 0) != 0

    def predict(self, X):
        """The labels of each row: a list of sets, or a matrix of 0 and 1, as y; or the label with
        the largest score, if y had one per row. Sets if the estimator was loaded."""
        chosen = self._chosen(X)
        if self._kind == SINGLE:
            return self.classes_[chosen.argmax(axis=1)]
        if self._kind == INDICATOR:
            return chosen.astype(np.int64)
        classes = self.classes_.tolist()
        return [{classes[k] for k in np.flatnonzero(row)} for row in chosen]

    def _read_again(self, y, n_rows):
        """The words of the labels of y, and those of each row: start (n_rows + 1) and codes. y may
        have another form than y of fit."""
        kind, values, start, codes = self._read(y, n_rows)
        if kind == INDICATOR and names_of(y) is None:
            if len(values) != len(self.classes_):
                raise ValueError("y has %d columns, and classes_ has %d labels: column j is "
                                 "classes_[j]; labels of rows may also be a list of sets"
                                 % (len(values), len(self.classes_)))
            values = self.classes_
        known = dict(zip(self.classes_.tolist(), self._words))
        words = [known.get(value) or fit_word(value) for value in values.tolist()]
        if kind == INDICATOR:
            if set(words) != set(self._words) or self._kind == INDICATOR and words != self._words:
                raise ValueError("the columns of y are not the labels in classes_, in their order")
            return words, start, codes
        unknown = sorted(set(words).difference(self._words))
        if unknown and (self._kind == INDICATOR or self._of_file and len(unknown) == len(words)):
            raise ValueError("y has labels that are not in classes_: %s" % ", ".join(unknown[:10]))
        return words, start, codes

    def score(self, X, y, sample_weight=None):
        """The share of rows with exactly the right labels. y has any form that fit takes; column j of
        a matrix is classes_[j], and one label per row is a set of one."""
        chosen = self._chosen(X)
        words, start, codes = self._read_again(y, len(chosen))
        place = {word: k for k, word in enumerate(self._words)}
        column = np.array([place.get(word, len(place)) for word in words], dtype=np.int64)
        right = np.zeros((len(chosen), len(place) + 1), dtype=bool)  # the last: labels not in classes_
        right[np.repeat(np.arange(len(chosen)), np.diff(start).astype(np.int64)), column[codes]] = True
        return share_of((right[:, :-1] == chosen).all(axis=1) & ~right[:, -1], sample_weight)

    def measures(self, X, y, **options):
        """{name: value}: the measures that svm-ml-predict prints for rows with labels. y as in score."""
        data = self._data_to_predict(X)
        words, start, codes = self._read_again(y, data.rows.n)
        data.set_sets(start, codes, words)
        return self.model_.measures(data, self._measure_options(options))

    def _more_tags(self):
        return {**super()._more_tags(), "multilabel": True, "_xfail_checks": ANOTHER_ORDER}

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_label = True
        return tags
