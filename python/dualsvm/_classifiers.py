"""TopClassifier, MultiClassSVM and SupportMatrixMachine."""
import numbers

import numpy as np

from ._base import ANOTHER_ORDER, Classifier, signature
from ._data import Rows
from ._errors import DualsvmWarning, warn


class TopClassifier(Classifier):
    """Classification at the top: positives score above a threshold that the highest negatives
    determine. Two classes; the positive one is the second in order, or pos_label.

    Parameters have scikit-learn's names; all other options of svm-top-train have their own names,
    such as tau=0.01 or calibrate=0.05 (TopClassifier.options() lists them)."""

    _family = "top"

    def __init__(self, formulation="toppush", *, C=1.0, loss="hinge", kernel="linear", degree=3,
                 gamma="auto", coef0=0.0, tol=1e-3, max_iter=-1, class_weight=None, pos_label=None,
                 n_jobs=None, random_state=None,
                 verbose=False, **options):
        self.formulation = formulation
        self.C = C
        self.loss = loss
        self.kernel = kernel
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0
        self.tol = tol
        self.max_iter = max_iter
        self.class_weight = class_weight
        self.pos_label = pos_label
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose
        self._set_options(options)

    def _name_labels(self, options, classes, codes, words):
        super()._name_labels(options, classes, codes, words)
        if len(classes) > 2:
            raise ValueError("Only binary classification is supported. The type of the target is "
                             "multiclass.")
        if self.pos_label is None:
            if not self._is_plain(words):
                options["positive"] = words[1]
        elif self.pos_label in classes.tolist():
            options["positive"] = words[classes.tolist().index(self.pos_label)]
        else:
            raise ValueError("pos_label: no row has the label %r" % (self.pos_label,))

    @staticmethod
    def _is_plain(words):
        """True if the second class is positive for the program by default: numbers above 0 are."""
        try:
            return float(words[0]) <= 0 < float(words[1])
        except ValueError:
            return False

    def _weigh(self, rows, codes, weight):
        return codes, weight  # also weights of 0

    def _take(self, model):
        super()._take(model)
        threshold = model.value("calibrated-threshold") or model.value("threshold")
        self.threshold_ = float(threshold) if threshold else 0.0

    @classmethod
    def _of_model(cls, model):
        estimator = super()._of_model(model)
        if model.value("positive") is not None:
            estimator.pos_label = estimator.classes_[estimator._order[0]]
        return estimator

    def _sign(self):
        return 1.0 if self._order[0] == 1 else -1.0  # the model's positive label is its first

    def score_samples(self, X):
        """The score of each row, as svm-top-predict writes it: high for positives."""
        return self._scores(X)[:, 0]

    def decision_function(self, X):
        """The score of each row minus threshold_, or, if pos_label is classes_[0], threshold_ minus the
        score: above 0 for classes_[1], as in scikit-learn, and for classes_[0] otherwise below it."""
        scores = self.score_samples(X)
        return self._sign() * (scores - self.threshold_)

    def _bias(self):
        return super()._bias() - self.threshold_

    def _more_tags(self):
        return {**super()._more_tags(), "binary_only": True, "_xfail_checks": ANOTHER_ORDER}

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        return tags


class MultiClassSVM(Classifier):
    """A multi-class SVM in one problem: a score for each class; the largest score gives the
    label.

    Parameters have scikit-learn's names; bias is the value of a constant feature, 0: none. All other
    options of svm-mc-train have their own names, such as scale="std" or solver="newton"
    (MultiClassSVM.options() lists them)."""

    _family = "mc"

    def __init__(self, formulation="ww", *, C=1.0, kernel="linear", degree=3, gamma="auto",
                 coef0=0.0, bias=0.0, probability=False, tol=1e-3, max_iter=-1, class_weight=None,
                 n_jobs=None, random_state=None,
                 verbose=False, **options):
        self.formulation = formulation
        self.C = C
        self.kernel = kernel
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0
        self.bias = bias
        self.probability = probability
        self.tol = tol
        self.max_iter = max_iter
        self.class_weight = class_weight
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose
        self._set_options(options)

    @classmethod
    def _of_model(cls, model):
        estimator = super()._of_model(model)
        estimator.probability = model.value("probability-scale") is not None
        return estimator

    def _more_tags(self):
        exempt = ANOTHER_ORDER if self.bias else {
            **ANOTHER_ORDER, "check_class_weight_classifiers":
            "without bias all scores are 0 at the origin, whatever the weights"}
        return {**super()._more_tags(), "_xfail_checks": exempt}

    @property
    def predict_proba(self):
        """The probability of each class (rows, classes), of a fit with probability=True."""
        if not self.probability:
            raise AttributeError("predict_proba is there with probability=True")
        return self._predict_proba

    def _predict_proba(self, X):
        data = self._data_to_predict(X)
        return self._by_class(self.model_.probabilities(data, self._predict_options()))

    @property
    def predict_log_proba(self):
        self.predict_proba  # raises AttributeError without probabilities
        return lambda X: np.log(self._predict_proba(X))


class SupportMatrixMachine(Classifier):
    """A support matrix machine: a classifier of matrices whose weights are a matrix of low rank.

    X is an array of matrices (n, rows, columns), or of flattened ones (n, rows * columns) with
    shape=(rows, columns); without shape each row is a matrix of one row, with a warning unless the
    formulation is "svm", for which the shape does not matter. Parameters have
    scikit-learn's names; all other options of svm-smm-train have their own names, such as restarts=5
    (SupportMatrixMachine.options() lists them)."""

    _family = "smm"

    def __init__(self, formulation="lowrank", *, C=1.0, loss="hinge", rank=1, tau=1.0, shape=None,
                 tol=1e-3, max_iter=-1, class_weight=None, n_jobs=None, random_state=None,
                 verbose=False, **options):
        self.formulation = formulation
        self.C = C
        self.loss = loss
        self.rank = rank
        self.tau = tau
        self.shape = shape
        self.tol = tol
        self.max_iter = max_iter
        self.class_weight = class_weight
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose
        self._set_options(options)

    def _rows(self, x):
        return Rows(x, matrices=True)

    def _option_values(self, rows):
        shape = self._shape(rows)
        if self.shape is None and rows.shape is None and self.formulation != "svm" and \
                rows.n_features > 1:
            warn("each row of X is a matrix of one row, so that %s is a plain SVM: for flattened "
                 "matrices give shape=(h, w), or X as an array (n, h, w); shape=(1, %d) says that "
                 "this is meant" % (self.formulation, rows.n_features), DualsvmWarning)
        if self.formulation == "lowrank" and isinstance(self.rank, numbers.Real) and \
                self.rank > min(shape):
            warn("rank=%s is no limit: matrices of %d x %d have a rank of %d at most"
                 % (self.rank, *shape, min(shape)), DualsvmWarning)
        return {**super()._option_values(rows), "shape": "%dx%d" % shape}

    def _shape(self, rows):
        if self.shape is None:
            return rows.shape or (1, rows.n_features)
        try:
            text = self.shape.split("x") if isinstance(self.shape, str) else self.shape
            height, width = (int(size) for size in text)
        except (TypeError, ValueError):
            raise ValueError("shape: rows and columns of the matrices, (3, 4) or '3x4', not %r"
                             % (self.shape,)) from None
        if (rows.shape or (height, width)) != (height, width):
            raise ValueError("X has matrices of %d x %d, and shape is %d x %d"
                             % (rows.shape + (height, width)))
        if height * width != rows.n_features:
            raise ValueError("X has %d features, and matrices of %d x %d have %d"
                             % (rows.n_features, height, width, height * width))
        return height, width

    def _data_to_predict(self, x):
        data = super()._data_to_predict(x)
        if data.rows.shape not in (None, self.shape_):
            raise ValueError("X has matrices of %d x %d, and the model is of %d x %d"
                             % (data.rows.shape + self.shape_))
        return data

    @property
    def coef_(self):
        """The matrices of weights (classes, rows, columns), of two classes (1, rows, columns); if the
        matrices have one row, (classes, features). Of the scaled features if `scale` is set
        (doc/python.md has those in the units of X)."""
        weights = super().coef_
        return weights if self.shape_[0] == 1 else weights.reshape(-1, *self.shape_)

    def _take(self, model):
        super()._take(model)
        height, width = model.value("shape").split("x")
        self.shape_ = int(height), int(width)

    @classmethod
    def _of_model(cls, model):
        estimator = super()._of_model(model)
        estimator.shape = estimator.shape_
        if estimator.formulation != "lowrank":  # the file has the rank that was found
            estimator.rank = signature(cls)["rank"]
        return estimator
