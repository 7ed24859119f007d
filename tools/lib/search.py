"""Sweeps of a trainer, and the best of their points."""
import math
import time

from lib.commands import call, has, operands, program, value_of, without
from lib.sweep import LOWER, PARAMETERS, best_of, distinct, measured, measures_of, read_points, sd_column
from lib.tool import printable, refuse, say as note

SHORT = {"cost": "-c", "gamma": "-g", "formulation": "-s", "loss": "-l", "degree": "-d", "coef0": "-r",
         "bias": "-B", "top-k": "-k", "rank": "-k"}  # of options that can be swept
OF_FOLDS = ("-v", "--folds", "--fold-file", "--validate")
OF_MODELS = ("--proof", "--log", "--libsvm", "--liblinear", "--weights")  # outputs of the last fit alone


def tabled(chosen):
    """These options of a trainer, so that one cost also gives a table and a model: a list of one value
    repeats it."""
    for names in (("--lambda",), ("-c", "--cost")):
        value = value_of(chosen, *names)
        if value is not None:
            return chosen if set(value) & set(",:") else [*chosen, names[0], f"{value},{value}"]
    return chosen


def say(text):
    """Prints a choice and its reason."""
    print(printable(f"# {text}"), flush=True)


class Trial:
    """A sweep and its points. words: its options; grid: the lists of cost and gamma, of which the user has
    given those in `fixed`."""

    def __init__(self, name, words, grid, fixed):
        self.name, self.words, self.grid, self.fixed = name, words, grid, fixed
        self.tables, self.points, self.best, self.value = [], [], None, -math.inf
        self.seconds = 0

    def given(self, grid):
        return [word for name, values in grid.items() for word in (SHORT[name], values)]

    @property
    def edges(self):
        """(column, whether the best is the largest) where values beyond those of the grid may be better."""
        for column in self.grid:
            values = distinct(self.points, column)
            if self.best and len(values) > 1 and self.best[column] in (values[0], values[-1]):
                yield column, self.best[column] == values[-1]

    def around(self, root=1):
        """A grid around the best point, by the steps of this one or their roots; beyond it at its edges.
        Lists of the user stay."""
        grid, edges = {}, dict(self.edges) if root == 1 else {}
        for column, text in self.grid.items():
            values = [float(value) for value in distinct(self.points, column)]
            ratio = (values[1] / values[0]) ** (1 / root) if len(values) > 1 and values[0] > 0 else 1
            powers = {None: (-1, 0, 1), False: (-2, -1, 0), True: (0, 1, 2)}[edges.get(column)]
            best = float(self.best[column])
            grid[column] = ",".join(f"{best * ratio ** power:.6g}" for power in powers) \
                if ratio > 1 and column not in self.fixed else text
        return grid


class Search:
    """The trials, and what all of them have in common."""

    def __init__(self, options, facts, extra, folds):
        self.options, self.facts, self.extra, self.folds = options, facts, extra, folds
        self.select = options.select or value_of(extra, "--select")
        self.measure = self.select  # or else the first in the tables
        self.common = []  # options of all fits
        self.sweeps, self.last = [], []  # options of all sweeps, and of the last fit
        self.rows = options.training  # those of the sweeps
        self.trials = []
        self.trainer = program(f"svm-{options.family}-train")
        self.pass_without()
        if options.max_time and not has(extra, "--max-time"):
            self.sweeps += ["--max-time", str(options.max_time)]

    def pass_without(self, *names):
        """The user's words for the trainer, without these options."""
        self.extra = without(self.extra, *names)
        self.passed = without(self.extra, "--select", *OF_FOLDS, *OF_MODELS)

    def prefer(self, measure):
        """The measure that selects unless the user names one."""
        self.select = self.measure = self.select or measure

    def sweep(self, name, words, grid):
        """Runs a new trial."""
        trial = Trial(name, words, grid, [column for column in grid if getattr(self.options, column)])
        self.trials.append(trial)
        self.add(trial, name, grid)
        return trial

    def add(self, trial, name, grid):
        """Sweeps over the grid and adds its points to the trial."""
        given = without(self.extra, *OF_MODELS, "--select")
        chosen = tabled([*self.folds, *trial.words, *trial.given(grid), *self.common, *self.sweeps,
                         *(["--select", self.select] if self.select else []), *given])
        path = ".".join([self.options.name, *([name] if name else []), "sweep"])
        started = time.monotonic()
        call([self.trainer, *chosen, *operands(self.rows)], path)
        trial.seconds += time.monotonic() - started
        columns, points = read_points([path])
        self.measure = self.measure or measures_of(columns)[0]
        if self.measure not in columns:
            refuse(f"there is no measure '{self.measure}'", path, 1)
        trial.tables.append(path)
        trial.points += [point for point in points if self.options.family != "top" or not is_zero(point)]
        trial.best = best_of(trial.points, self.measure, self.measure in LOWER)
        if trial.best is None:
            say(f"{trial.name or 'all'}: w = 0 at every point" if not trial.points else
                f"{trial.name or 'all'}: no value of {self.measure}")
            return
        value = measured(trial.best, self.measure)
        trial.value = -value if self.measure in LOWER else value
        say(f"{self.measure} {value:g}: {', '.join(filter(None, [name, *settings(trial)]))}"
            f"{'' if self.has_converged(trial.best) else ', not all of whose fits have converged'}")

    def has_converged(self, point):
        """Whether the gaps of a point's fits are as small as asked for; not known of smm and Grill."""
        gap, target = measured(point, "gap"), float(value_of(self.extra, "-e", "--epsilon") or 1e-3)
        unknown = self.options.family == "smm" or point.get("formulation") in ("grill", "grill-np")
        return unknown or (gap is not None and gap <= target)

    def expect(self, trial, n):
        """Says how long n more sweeps take if each takes as long as this trial, unless -q is passed on."""
        seconds = trial.seconds * n
        if seconds >= 1 and not has(self.extra, "-q", "--quiet"):
            rest = f"{seconds:.0f} s" if seconds < 90 else f"{seconds / 60:.0f} minutes"
            note(f"about {rest} for the rest, if each of up to {n} more sweeps takes as long as {trial.name}")

    @property
    def best(self):
        best = max(self.trials, key=lambda trial: trial.value)
        if best.best is None:
            refuse("no model has a weight other than 0: another kernel or formulation may help (-- -t rbf, "
                   "-- -s patmat-np --tau T)" if self.options.family == "top" else
                   f"no sweep has a value of {self.measure}", self.options.training)
        return best

    def extend(self, trial):
        """Extends the grid once beyond the best point if it lies at an edge."""
        edges = dict(trial.edges)
        if set(edges) - set(trial.fixed):
            where = (f"{column} {trial.best[column]} is the {'largest' if top else 'smallest'}"
                     for column, top in edges.items())
            say(f"{' and '.join(where)} of its values: beyond it")
            name = trial.tables[-1][len(self.options.name) + 1:-len(".sweep")]
            self.add(trial, f"{name}.wider" if name else "wider", trial.around())
        for column, top in trial.edges:
            say(f"the best {column} {trial.best[column]} is the {'largest' if top else 'smallest'} of its "
                f"values: others may be better (--{column})")

    def deviation(self, trial):
        """The standard error of the best value over the folds, or 0."""
        column = sd_column(list(trial.best), self.measure)
        return (measured(trial.best, column) or 0) / math.sqrt(self.options.folds) if column else 0


def is_zero(point):
    """Whether all scores of top are equal, as those of w = 0."""
    return point["auc"] == "0.5" and point["auc-sd"] in ("", "0")


def settings(trial):
    """NAME VALUE of what varies among the points of a trial, at its best."""
    return [f"{column} {trial.best[column]}" for column in PARAMETERS
            if trial.best.get(column) and len(distinct(trial.points, column)) > 1]
