"""PMML 4.4. Fields f1, f2, ... are the features; missing ones are 0. The scaling is a dictionary of derived
fields s1, s2, ... One score is a regression with the output field `score`. Several are a chain of
regressions with output fields score_LABEL, and for classes a classification by these, whose softmax is the
probability of models with one."""
import xml.etree.ElementTree as ET

from lib.exports import breakpoints, check_function, readable, weights_of
from lib.number import shortest, single
from lib.tool import say

NAMESPACE = "http://www.dmg.org/PMML-4_4"
KERNELS = {"polynomial": "PolynomialKernelType", "rbf": "RadialBasisKernelType",
           "sigmoid": "SigmoidKernelType"}
TINY = 1e-300  # below every norm of numbers in single precision


def _add(parent, tag, text=None, **attributes):
    element = ET.SubElement(parent, tag, {key: value if isinstance(value, str) else shortest(value)
                                          for key, value in attributes.items()})
    element.text = text
    return element


def _constant(parent, value):
    if isinstance(value, str):
        _add(parent, "Constant", value, dataType="string")
    else:
        _add(parent, "Constant", shortest(value), dataType="double")


def _apply(parent, function, *arguments):
    """A function of fields (their names), constants (numbers) and functions (tuples)."""
    element = _add(parent, "Apply", function=function)
    for one in arguments:
        if isinstance(one, tuple):
            _apply(element, *one)
        elif isinstance(one, str):
            _add(element, "FieldRef", field=one)
        else:
            _constant(element, one)
    return element


class Writer:
    def __init__(self, model):
        self.model, self.weights = model, weights_of(model)
        every = range(1, max(1, model.n_features) + 1)
        if self.weights is not None and model.scale != "l2":
            used = [index for index, row in self.weights.items() if any(row)]
            if model.scaling is not None:
                used = [index for index in used if index in model.scaling]
        else:
            used = every if model.scaling is None else list(model.scaling)
        self.features = list(used) or [1]
        self.prefix = "f" if model.scale == "none" else "s"

    # ---- fields ----

    def schema(self, model, fields, target=False):
        schema = _add(model, "MiningSchema")
        if target:
            _add(schema, "MiningField", name="label", usageType="target")
        for name in fields:
            if name[0] == "f":
                _add(schema, "MiningField", name=name, missingValueReplacement="0")
            else:
                _add(schema, "MiningField", name=name)

    def inputs(self):
        return [f"f{index}" for index in self.features]

    def transformations(self, root):
        model = self.model
        if model.scale == "none":
            return
        parent = _add(root, "TransformationDictionary")

        def derived(index):
            return _add(parent, "DerivedField", name=f"s{index}", optype="continuous", dataType="float")

        if model.scale == "l2":
            length = _add(parent, "DerivedField", name="length", optype="continuous", dataType="double")
            _apply(length, "max", ("sqrt", ("sum", *((("*", f, f)) for f in self.inputs()))), TINY)
            for index in self.features:
                _apply(derived(index), "/", f"f{index}", "length")
        elif model.scale == "quantile":
            points = breakpoints(model)
            for index in self.features:
                of = points.get(index, [])
                if len(of) < 2:  # constant in training
                    _constant(derived(index), 0.0)
                    continue
                norm = _add(derived(index), "NormContinuous", field=f"f{index}", outliers="asExtremeValues")
                for value, quantile in of:
                    _add(norm, "LinearNorm", orig=value, norm=quantile)
        else:
            for index in self.features:
                [(shift, factor)] = model.scaling.get(index, [(0.0, 0.0)])
                _apply(derived(index), "*", ("-", f"f{index}", shift), factor)

    # ---- scores ----

    def score(self, parent, k, name):
        """The model of output k; returns its Output."""
        if self.weights is not None:
            kind, features = "RegressionModel", [i for i in self.features if self.weights.get(i, (0,))[k]]
        else:
            kind, features = "SupportVectorMachineModel", self.features
        model = _add(parent, kind, functionName="regression")
        needed = self.features if self.model.scale == "l2" else features
        self.schema(model, [f"f{index}" for index in needed or self.features[:1]])
        output = _add(model, "Output")
        _add(output, "OutputField", name=name, optype="continuous", dataType="double",
             feature="predictedValue")
        if self.weights is None:
            self._machine(model, k)
            return output
        table = _add(model, "RegressionTable", intercept=self.model.bias[k])
        for index in features:
            _add(table, "NumericPredictor", name=f"{self.prefix}{index}",
                 coefficient=self.weights[index][k])
        return output

    def _machine(self, parent, k):
        model = self.model
        _add(parent, KERNELS[model.kernel], **model.parameters)
        place = {index: i for i, index in enumerate(self.features, 1)}
        vectors = [(row[k], features) for row, features in model.vectors if row[k]] or \
            [(0.0, model.vectors[0][1])]  # at least one is there
        dictionary = _add(parent, "VectorDictionary", numberOfVectors=len(vectors))
        fields = _add(dictionary, "VectorFields", numberOfFields=len(place))
        for index in place:
            _add(fields, "FieldRef", field=f"{self.prefix}{index}")
        machine = _add(parent, "SupportVectorMachine")
        support = _add(machine, "SupportVectors", numberOfSupportVectors=len(vectors),
                       numberOfAttributes=len(place))
        coefficients = _add(machine, "Coefficients", numberOfCoefficients=len(vectors),
                            absoluteValue=model.bias[k])
        for j, (coefficient, features) in enumerate(vectors, 1):
            instance = _add(dictionary, "VectorInstance", id=f"v{j}")
            sparse = _add(instance, "REAL-SparseArray", n=len(place))
            _add(sparse, "Indices", " ".join(str(place[index]) for index, _ in features))
            _add(sparse, "REAL-Entries", " ".join(shortest(single(value)) for _, value in features))
            _add(support, "SupportVector", vectorId=f"v{j}")
            _add(coefficients, "Coefficient", value=coefficient)

    def one_score(self, root):
        output = self.score(root, 0, "score")
        decision = self.model.decision()
        if decision:
            field = _add(output, "OutputField", name="label", optype="categorical", dataType="string",
                         feature="transformedValue")
            choice = _apply(field, "if", ("greaterThan", "score", decision.threshold))
            _constant(choice, readable(decision.above))
            _constant(choice, readable(decision.below))

    def several_scores(self, root, labels):
        sets = self.model.label_sets()
        chain = _add(root, "MiningModel",
                     functionName="regression" if sets else "classification")
        self.schema(chain, self.inputs(), target=not sets)
        if sets:
            self._sets(chain, sets, labels)
        parts = _add(chain, "Segmentation", multipleModelMethod="modelChain")
        for k, label in enumerate(labels):
            segment = _add(parts, "Segment", id=str(k + 1))
            _add(segment, "True")
            self.score(segment, k, f"score_{label}")
        if sets:
            return
        segment = _add(parts, "Segment", id="label")
        _add(segment, "True")
        model = _add(segment, "RegressionModel", functionName="classification",
                     normalizationMethod="softmax")
        self.schema(model, [f"score_{label}" for label in labels], target=True)
        output = _add(model, "Output")
        _add(output, "OutputField", name="predicted", optype="categorical", dataType="string",
             feature="predictedValue")
        if "probability-scale" in self.model.keys:
            for label in labels:
                _add(output, "OutputField", name=f"probability_{label}", optype="continuous",
                     dataType="double", feature="probability", value=label)
        scale = self.model.number("probability-scale", 1.0)
        for label in labels:
            table = _add(model, "RegressionTable", intercept="0", targetCategory=label)
            _add(table, "NumericPredictor", name=f"score_{label}", coefficient=scale)

    def _sets(self, chain, sets, labels):
        """An output field has_LABEL for each label."""
        if sets.kind == "top" or sets.at_least_one:
            say("note: PMML has the scores only: it cannot express label sets of "
                + ("--at-least-one" if sets.at_least_one else "--threshold top:K"))
            return
        output = _add(chain, "Output")
        scores = [f"score_{label}" for label in labels]
        levels = sets.values * len(labels) if sets.kind == "global" else sets.values or [0.0] * len(labels)
        if sets.kind == "ew":
            field = _add(output, "OutputField", name="level", optype="continuous", dataType="double",
                         feature="transformedValue")
            _apply(field, "sum", *(("*", score, weight) for score, weight in zip(scores, levels)), levels[-1])
            levels = ["level"] * len(labels)
        for label, score, level in zip(labels, scores, levels):
            field = _add(output, "OutputField", name=f"has_{label}", optype="categorical",
                         dataType="boolean", feature="transformedValue")
            _apply(field, "greaterThan", score, level)


def write(model, name):
    check_function(model, ("linear", *KERNELS), dense=model.scale == "l2" or model.linear_weights() is None)
    writer = Writer(model)
    labels = list(map(readable, model.labels))
    root = ET.Element("PMML", {"xmlns": NAMESPACE, "version": "4.4"})
    header = _add(root, "Header", description=f"{name}: svm-{model.family}-train, kernel {model.kernel}")
    _add(header, "Application", name="dualsvm")
    dictionary = _add(root, "DataDictionary")
    if model.n_outputs > 1 and model.family != "ml":
        field = _add(dictionary, "DataField", name="label", optype="categorical", dataType="string")
        for label in labels:
            _add(field, "Value", value=label)
    for field in writer.inputs():
        _add(dictionary, "DataField", name=field, optype="continuous", dataType="float")
    writer.transformations(root)
    if model.n_outputs == 1 and model.family not in ("mc", "ml"):
        writer.one_score(root)
    else:
        writer.several_scores(root, labels)
    ET.indent(root, " ")
    return ET.tostring(root, encoding="utf-8", xml_declaration=True) + b"\n"
