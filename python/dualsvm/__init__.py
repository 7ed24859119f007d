"""Support vector machines that scikit-learn does not have, each fit with a certified duality gap.

    RankSVM               a score that orders the rows of a query
    TopClassifier         classification at the top: positives above the highest negatives
    MultiClassSVM         multi-class in one problem: Weston-Watkins, Crammer-Singer and more
    MultiLabelRankSVM     sets of labels
    SupportMatrixMachine  rows are matrices, weights are of low rank

They are scikit-learn's estimators in all but that they do not need it. After fit, gap_ says how far
the objective primal_ is, at most, from the best possible one, which is dual_ or more; certified_ is
False where that is not proved.

The package stands on libdualsvm, the library of the programs svm-FAMILY-train and
svm-FAMILY-predict: `save` writes the file that they write, and `load` reads theirs.
"""
from . import _model
from ._classifiers import MultiClassSVM, SupportMatrixMachine, TopClassifier
from ._errors import ConvergenceWarning, DualsvmError, DualsvmWarning
from ._library import version as library_version
from ._multilabel import MultiLabelRankSVM
from ._options import OptionInfo
from ._rank import PredictedInterval, RankedCandidates, RankSVM
from ._svmlight import read_svmlight, write_svmlight
from ._version import VERSION

__version__ = VERSION
__all__ = ["RankSVM", "TopClassifier", "MultiClassSVM", "MultiLabelRankSVM",
           "SupportMatrixMachine", "load", "library_version", "read_svmlight", "write_svmlight",
           "OptionInfo", "RankedCandidates", "PredictedInterval", "DualsvmError", "DualsvmWarning",
           "ConvergenceWarning"]

_ESTIMATORS = {cls._family: cls for cls in (RankSVM, TopClassifier, MultiClassSVM,
                                            MultiLabelRankSVM, SupportMatrixMachine)}


def load(path):
    """Loads the estimator of a model file of any family, with the parameters of the file's header. The
    others, such as class_weight and tol, have their defaults if it is fitted again (doc/python.md
    lists them); a MultiLabelRankSVM predicts sets. Labels that are all whole numbers are integers, also if
    they were texts or booleans."""
    model = _model.load(path)
    return _ESTIMATORS[model.family]._of_model(model)
