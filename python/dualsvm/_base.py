"""Base classes of the estimators: parameters and options, rows, the fit and its attributes.

They derive from scikit-learn's classes if it is installed, and behave the same without it.
"""
import functools
import inspect
import keyword
import numbers
import os
import textwrap

import numpy as np

from . import _library as lib
from . import _model, _options
from ._data import Rows, matrix_of
from ._labels import classes_of, is_unfit, quoted, values_of, vector, word_of, words_of
from ._weights import weights_of

try:
    from sklearn.base import BaseEstimator, ClassifierMixin
except ImportError:
    class BaseEstimator:
        """Replaces scikit-learn's class of this name if it is not installed."""

        @classmethod
        def _get_param_names(cls):
            return sorted(name for name in signature(cls))

        def get_params(self, deep=True):
            return {name: getattr(self, name) for name in self._get_param_names()}

        def set_params(self, **params):
            for name, value in params.items():
                if name not in self._get_param_names():
                    raise ValueError("Invalid parameter %r for estimator %s. Valid parameters "
                                     "are: %r." % (name, self, self._get_param_names()))
                setattr(self, name, value)
            return self

        def __repr__(self):
            changed = {name: value for name, value in self.get_params().items()
                       if not is_default(type(self), name, value)}
            return "%s(%s)" % (type(self).__name__,
                               ", ".join("%s=%r" % one for one in changed.items()))

    class ClassifierMixin:
        """Replaces scikit-learn's class of this name if it is not installed."""

        _estimator_type = "classifier"

# The trainer option of a parameter with another name.
OPTION_OF = {"C": "cost", "tol": "epsilon", "max_iter": "max-iter", "n_jobs": "threads",
             "random_state": "seed", "class_weight": "weight", "pos_label": "positive"}
KERNELS = {"poly": "polynomial"}  # scikit-learn's name
FILE_OPTIONS = {"roc", "pr", "confusion", "trec", "qrels"}  # of predictors, which write files
# Parameters that a model's header has, by its key.
HEADER = {"formulation": str, "loss": str, "cost": float, "kernel": str, "degree": int,
          "gamma": float, "coef0": float, "rank": int, "tau": float, "theta": float,
          "top-k": float, "scale": str, "margin-scale": float, "max-sv": int, "cost-per": str,
          "gain": str, "pair-features": str, "query-features": str}


@functools.lru_cache(maxsize=None)
def signature(cls):
    """{parameter: default} of a class."""
    return {name: parameter.default
            for name, parameter in inspect.signature(cls.__init__).parameters.items()
            if name != "self" and parameter.kind != parameter.VAR_KEYWORD}


def is_default(cls, name, value):
    default = signature(cls).get(name, inspect.Parameter.empty)
    return value is default or (isinstance(value, (str, int, float)) and
                                type(value) is type(default) and value == default)


def option_of(parameter):
    return OPTION_OF.get(parameter, parameter)


# Exempt from scikit-learn's check of sample weights: sums in another order give another model within tol.
ANOTHER_ORDER = {"check_sample_weights_invariance":
                 "rows of weight 0 and rows left out are equal within tol, not bit by bit"}

# What parameters mean beyond the options of the trainer that they are.
MEANINGS = {
    "gamma": "The kernel's gamma: a number, 'auto' for 1 / features up to the last that has a value, or "
             "'scale' for 1 / (features times the variance of X).",
    "kernel": "'linear', 'rbf', 'poly' and others, or 'precomputed': X is then the matrix of kernel "
              "values with the training rows.",
    "tol": "The fit ends when gap_ is at most this.",
    "max_iter": "The limit of iterations; -1: none.",
    "class_weight": "{label: weight}, by which C is multiplied, or 'balanced'.",
    "pos_label": "The label that is to be at the top; None: the second in order. It does not turn the "
                 "sign of decision_function, which is that of classes_[1].",
    "positive": "In the saved model, predict_text and the programs: of two labels, the one that has "
                "decision values above 0. decision_function and coef_ are those of classes_[1] "
                "whatever it is.",
    "shape": "(rows, columns) of the matrices, if X has them flattened.",
    "n_jobs": "Threads; None or -1: one for each processor. Results do not depend on it.",
    "random_state": "Seed of random choices: a number or a generator of NumPy.",
    "verbose": "True: print progress about once a second, and the trainer's report."}


def described(cls):
    """The docstring of an estimator with its parameters, and the trainer's other options."""
    def paragraph(text, indent):
        return textwrap.fill(text, 96, initial_indent=indent, subsequent_indent=indent)

    table = _options.table(cls._family, lib.TRAIN)
    lines = [inspect.cleandoc(cls.__doc__ or ""), "", "Parameters", "----------"]
    for name, default in signature(cls).items():
        option = table.get(option_of(name))
        meaning = MEANINGS.get(name) or option.help + "."
        if option is not None and option.choices:
            meaning += " One of: %s." % ", ".join(filter(None, option.choices))
        lines += ["%s : default %r" % (name, default), paragraph(meaning, "    ")]
    lines += ["**options", paragraph("Other options of svm-%s-train, by their names with _ for -. "
                                     "(Cross-validation and sweeps are scikit-learn's, by "
                                     "GridSearchCV.)" % cls._family, "    "), ""]
    taken = {option_of(name) for name in signature(cls)}
    for name, option in table.items():
        if name not in taken:
            default = "" if option.default is None else ", default " + option.default
            choices = ", ".join(filter(None, option.choices))
            keyword_ = name.replace("-", "_") + "_" * keyword.iskeyword(name)
            lines += ["    %s : %s%s" % (keyword_, choices or option.type, default),
                      paragraph(MEANINGS.get(name, option.help), "        ")]
    return "\n".join(lines) + "\n"


class Estimator(BaseEstimator):
    _family = None

    def __init_subclass__(cls, **keywords):
        super().__init_subclass__(**keywords)
        if "_family" in vars(cls):
            cls.__doc__ = described(cls)

    # ---- parameters ----

    def _set_options(self, options):
        for keyword, value in options.items():
            setattr(self, self._attribute_of(keyword), value)

    @classmethod
    def _attribute_of(cls, keyword):
        """The attribute that holds an option of the trainer: its name with _ for -."""
        taken = {option_of(name): name for name in signature(cls)}
        return _options.named(cls._family, lib.TRAIN, keyword, taken, cls.__name__,
                              OPTION_OF.get(keyword)).replace("-", "_")

    def _given_options(self):
        """{attribute: value} of the options that are set in addition to the parameters."""
        names = (name.replace("-", "_") for name in _options.table(self._family, lib.TRAIN))
        return {name: vars(self)[name] for name in names
                if name in vars(self) and name not in signature(type(self))}

    def get_params(self, deep=True):
        """The parameters, and the options that are set."""
        params = super().get_params(deep)
        params.update(self._given_options())
        return params

    def set_params(self, **params):
        """Sets parameters, and options of the trainer by their names; None removes an
        option."""
        others = {}
        for keyword, value in params.items():
            name = keyword
            if keyword not in signature(type(self)):
                try:
                    name = self._attribute_of(keyword)
                except TypeError as error:
                    raise ValueError("Invalid parameter %r for estimator %s: %s"
                                     % (keyword, type(self).__name__, error)) from None
            others[name] = value
        for name, value in others.items():
            if value is None and name not in signature(type(self)):
                vars(self).pop(name, None)
            else:
                setattr(self, name, value)
        return self

    @classmethod
    def options(cls):
        """The options of the trainer that may be given by name: a list of OptionInfo."""
        return list(_options.table(cls._family, lib.TRAIN).values())

    def _option_values(self, rows):
        """{option: value} of the trainer, for values other than the default."""
        values = {name.replace("_", "-"): value for name, value in self._given_options().items()}
        for name in signature(type(self)):
            value = getattr(self, name)
            if name != "verbose" and not is_default(type(self), name, value):
                convert = getattr(self, "_option_" + name, None)
                values[option_of(name)] = convert(value, rows) if convert else value
        return values

    def _option_kernel(self, value, rows):
        if not isinstance(value, str):
            raise ValueError("kernel: a name, not %r" % (value,))
        return KERNELS.get(value, value)

    def _option_gamma(self, value, rows):
        """As in scikit-learn: 1 / number of features with "auto", also divided by the variance with "scale"."""
        if value == "auto":
            return None
        if value != "scale":
            return value
        x = rows.values.astype(np.float64, copy=False)
        size = rows.n * rows.n_features
        variance = (x ** 2).sum() / size - (x.sum() / size) ** 2
        return 1.0 / (rows.n_features * variance) if variance > 0 else 1.0

    def _option_max_iter(self, value, rows):
        return None if value == -1 else value

    def _option_n_jobs(self, value, rows=None):
        if value is None or value == -1:
            return None  # one for each processor
        if not isinstance(value, numbers.Integral) or value == 0:
            raise ValueError("n_jobs: a number of threads, or -1 for all, not %r" % (value,))
        return value if value > 0 else max(1, (os.cpu_count() or 1) + 1 + int(value))

    def _option_random_state(self, value, rows):
        if hasattr(value, "randint"):
            return int(value.randint(2**31 - 1))
        return int(value.integers(2**31 - 1)) if hasattr(value, "integers") else value

    # ---- rows ----

    @property
    def _precomputed(self):
        return str(getattr(self, "kernel", None)).lower() == "precomputed"

    def _rows(self, x):
        return Rows(x)

    def _rows_to_fit(self, x):
        rows = self._rows(x)
        if self._precomputed and rows.n != rows.n_features:
            raise ValueError("Precomputed matrix must be a square matrix: it is %d x %d"
                             % (rows.n, rows.n_features))
        return rows

    def _data(self, rows):
        return rows.data(self._family, self._precomputed)

    def _take_rows(self, rows, which):
        """Replaces rows by some of them."""
        if self._precomputed and not np.array_equal(which, np.arange(rows.n)):
            raise ValueError("kernel='precomputed': rows are not left out: sample_weight is to be above 0")
        rows.take(which)

    def _data_to_predict(self, x):
        _model.check_fitted(self)
        rows = self._rows(x)
        if not self._of_file and rows.n_features != self.n_features_in_:
            raise ValueError("X has %d features, but %s is expecting %d features as input"
                             % (rows.n_features, type(self).__name__, self.n_features_in_))
        names = getattr(self, "feature_names_in_", None)
        if names is not None and rows.names is not None and list(names) != list(rows.names):
            raise ValueError("The feature names should match those that were passed during fit.")
        return self._data(rows)

    def _predict_options(self, options=None):
        """Options of the predictor, or NULL for the defaults."""
        values = {_options.named(self._family, lib.PREDICT, keyword, {"threads": "n_jobs"},
                                 "the predictor of " + type(self).__name__): value
                  for keyword, value in (options or {}).items()}
        values["threads"] = self._option_n_jobs(self.n_jobs)
        values = {name: value for name, value in values.items() if value is not None}
        return _options.make(self._family, lib.PREDICT, values) if values else None

    def _measure_options(self, options):
        """The same for measures, without options whose only effect is a file."""
        for option in FILE_OPTIONS & options.keys():
            raise ValueError("%s: measures writes no file, svm-%s-predict does"
                             % (option, self._family))
        return self._predict_options(options)

    # ---- the fit ----

    def _train(self, data, options):
        return _model.train(_options.make(self._family, lib.TRAIN, options), data,
                            bool(self.verbose))

    def _keep(self, rows, model):
        """Becomes the estimator of a model that was fitted to these rows."""
        self._of_file = False
        self.n_features_in_ = rows.n_features
        vars(self).pop("feature_names_in_", None)
        if rows.names is not None:
            self.feature_names_in_ = rows.names
        self._take(model)

    def _take(self, model):
        report = model.report()
        self.model_ = model
        self.primal_, self.dual_, self.gap_ = report.primal, report.dual, report.gap
        self.certified_ = bool(report.certified)
        self.n_iter_ = int(report.iterations)

    # ---- files ----

    def save(self, path):
        """Writes the model's file, as svm-FAMILY-train does; as gzip if the name ends in .gz."""
        _model.check_fitted(self)
        self.model_.save(path)

    @classmethod
    def load(cls, path):
        """An estimator with the model of a file and the parameters of its header; the others, which fit
        takes again, have their defaults (doc/python.md lists them). X may then have any number of
        columns, because model files do not store it. Labels that are all whole numbers are integers, also
        if they were texts or booleans, because model files have no types."""
        return cls._of_model(_model.load(path, cls._family))

    @classmethod
    def _of_model(cls, model):
        estimator = cls()
        names = {option_of(name): name for name in signature(cls)}
        for key, kind in HEADER.items():
            text = model.value(key)
            if text is not None and key in _options.table(cls._family, lib.TRAIN):
                setattr(estimator, names.get(key, key.replace("-", "_")), kind(text))
        estimator._take_labels(model)
        estimator._of_file = True
        estimator.n_features_in_ = model.n_features
        estimator._take(model)
        return estimator

    def _take_labels(self, model):
        """Sets classes_ from the labels of a file."""
        labels = model.labels
        if labels:
            values = values_of(labels)
            order = np.argsort(values, kind="stable")
            self.classes_, self._words = values[order], [labels[i] for i in order]
            self._order = order_of(labels, self._words, len(labels))

    # ---- predictions ----

    def _scores(self, x):
        data = self._data_to_predict(x)
        return self.model_.scores(data, self._predict_options())

    def predict_text(self, X, **options):
        """The text that svm-FAMILY-predict writes for these rows with these options."""
        data = self._data_to_predict(X)
        return self.model_.text(data, self._predict_options(options))

    def _linear(self):
        model = getattr(self, "model_", None)
        if model is None or model.value("kernel") not in (None, "linear") or model.value("pair-features"):
            raise AttributeError("only fitted linear models have coef_ and intercept_")
        return model

    def _weights(self):
        """Weights (scores, n_features_in_) of a linear model."""
        weights = self._linear().weights()
        missing = self.n_features_in_ - len(weights)
        return np.vstack([weights, np.zeros((missing, weights.shape[1]))]).T

    def _bias(self):
        """The bias (scores) of a linear model."""
        return self._linear().bias()

    # ---- support vectors ----

    def _support(self):
        found = self.model_.support() if hasattr(self, "model_") else None
        if found is None:
            raise AttributeError("only fitted models with a kernel have support vectors")
        return found

    @property
    def support_(self):
        """The numbers of the training rows that are support vectors, of a model with
        kernel="precomputed"; other models have the rows themselves, support_vectors_."""
        if not self._precomputed:
            raise AttributeError("only models with kernel='precomputed' have support_")
        serial = self._support()[1]
        return np.array([values[0] for values in serial], dtype=np.int64) - 1

    @property
    def support_vectors_(self):
        """The support vectors of a model with a kernel, scaled if `scale` is set: a CSR matrix, or an
        array if scipy is not installed. With query_features the query's columns follow."""
        if self._precomputed:
            raise AttributeError("models with kernel='precomputed' have support_ instead")
        _, values, columns = self._support()
        start = np.cumsum([0] + [len(row) for row in columns])
        value, column = (np.concatenate(parts + [[]]) for parts in (values, columns))
        width = max(self.n_features_in_, self.model_.n_features)
        return matrix_of(value.astype(np.float32), column.astype(np.int64) - 1, start,
                         (len(values), width))

    # ---- scikit-learn's tags ----

    def _more_tags(self):
        return {"pairwise": self._precomputed, "allow_nan": False}

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self._precomputed
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = False
        return tags


class Classifier(ClassifierMixin, Estimator):
    """Classifiers with one label per row: fit, predict, and the map between classes_ and the labels of
    the model, which have another order."""

    def fit(self, X, y, sample_weight=None):
        """Fits the model to the rows of X and their classes y: integers, texts, booleans. A row of
        weight 2 is equivalent to two equal rows."""
        rows = self._rows_to_fit(X)
        classes, codes = classes_of(y, rows.n)
        if len(classes) < 2:
            raise ValueError("y has one class, and two at least are wanted: %s has nothing to tell "
                             "apart" % type(self).__name__)
        words = words_of(classes)
        options = self._option_values(rows)
        self._name_labels(options, classes, codes, words)
        weight = None
        if sample_weight is not None:
            weight = weights_of(sample_weight, rows.n)
            if (np.bincount(codes, weights=weight) == 0).any():
                raise ValueError("all rows of a class have the weight 0: %s has nothing to tell "
                                 "apart" % type(self).__name__)
            codes, weight = self._weigh(rows, codes, weight)
        data = self._data(rows)
        data.set_labels(codes, words)
        if weight is not None:
            data.set_weights(weight)
        model = self._train(data, options)
        self._order = order_of(model.labels, words, len(words))
        self.classes_, self._words = classes, words
        self._keep(rows, model)
        return self

    def _weigh(self, rows, codes, weight):
        """Leaves out rows of weight 0, which most solvers refuse. The codes and weights of the others."""
        which = np.flatnonzero(weight)
        self._take_rows(rows, which)
        return np.ascontiguousarray(codes[which]), weight[which]

    def _name_labels(self, options, classes, codes, words):
        """Replaces classes in options by their words in files."""
        if self.class_weight is None:
            options.pop("weight", None)
        elif isinstance(self.class_weight, str) and self.class_weight == "balanced":
            count = np.bincount(codes)
            options["weight"] = {word: float(len(codes) / (len(classes) * n))
                                 for word, n in zip(words, count)}
        elif isinstance(self.class_weight, dict):
            word = dict(zip(classes.tolist(), words))
            options["weight"] = {word[label]: weight for label, weight in self.class_weight.items()
                                 if label in word}
            if self.class_weight and not options["weight"]:
                raise ValueError("the classes, %s, are not in class_weight" % classes.tolist())
        else:
            raise ValueError("class_weight: a dict, 'balanced' or None, not %r"
                             % (self.class_weight,))

    def predict(self, X):
        """The class of each row."""
        data = self._data_to_predict(X)
        codes = self.model_.predicted_labels(data, self._predict_options())
        return self.classes_[self._order[codes]]

    def decision_function(self, X):
        """The score of each class (rows, classes); of two classes the second minus the first (rows)."""
        scores = self._scores(X)
        if scores.shape[1] == 1:
            return self._sign() * scores[:, 0]
        scores = self._by_class(scores)
        return scores[:, 1] - scores[:, 0] if len(self.classes_) == 2 else scores

    def _sign(self):
        """1 if the one score of two classes is high for the second, else -1."""
        return 1.0 if self._order[1] == 1 else -1.0

    def _by_class(self, columns):
        ordered = np.empty_like(columns)
        ordered[..., self._order] = columns
        return ordered

    @property
    def coef_(self):
        """Weights of a linear model (classes, features), of two classes (1, features); of the
        scaled features if `scale` is set (doc/python.md has those in the units of X)."""
        return self._of_classes(self._weights())

    @property
    def intercept_(self):
        return self._of_classes(self._bias())

    @property
    def dual_coef_(self):
        """The coefficients of the support vectors of a model with a kernel (classes, support
        vectors), of two classes (1, support vectors)."""
        return self._of_classes(self._support()[0].T)

    def _of_classes(self, values):
        """Converts values of each score of the model (scores, ...) to values of each class; of two classes
        the second minus the first."""
        if len(values) == 1:
            return self._sign() * values
        values = self._by_class(values.T).T
        return values[1:] - values[:1] if len(self.classes_) == 2 else values

    def score(self, X, y, sample_weight=None):
        """The share of rows with the right prediction."""
        predicted = self.predict(X)
        return share_of(predicted == vector(y, len(predicted)), sample_weight)

    def measures(self, X, y, **options):
        """{name: value}: the measures that svm-FAMILY-predict prints for rows with labels."""
        data = self._data_to_predict(X)
        classes, codes = classes_of(y, data.rows.n)
        known = dict(zip(self.classes_.tolist(), self._words))
        data.set_labels(codes, [known.get(value) or fit_word(value) for value in classes.tolist()])
        return self.model_.measures(data, self._measure_options(options))


def share_of(right, weight):
    """The share of True rows, or of their weight."""
    return float(np.average(right, weights=weight))


def order_of(labels, words, used):
    """The positions, among the classes with these words, of the labels of the model."""
    place = {word: i for i, word in enumerate(words)}
    if len(labels) != used or any(label not in place for label in labels):
        raise ValueError("some labels are equal as numbers: files cannot tell them apart: %s"
                         % ", ".join(words[:10]))
    return np.array([place[label] for label in labels])


def fit_word(value):
    word = word_of(value)
    return quoted(word) if is_unfit(word) else word
