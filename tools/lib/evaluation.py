"""Predictions, and their counts against the labels of a test file. Labels that are numbers compare as numbers."""
import os
import subprocess
import tempfile
from typing import List, NamedTuple

from lib.commands import program
from lib.files import Source
from lib.number import is_number
from lib.significance import pairwise_accuracy
from lib.svmlight import Row, format_row, query_key
from lib.table import Table
from lib.tool import quoted, refuse

MIN_GROUP = 5  # rows of a query that the mean counts, as in svm-rank-predict


class Predictions(NamedTuple):
    """What svm-FAMILY-predict wrote, without its header."""

    lines: List[int]  # their numbers
    fields: List[List[str]]  # of each line
    named: bool  # --names: the last field of each line is the name of the row
    doubtful: bool  # two columns of whole numbers with a tab between: the second may be scores or names

    def scores(self, path):
        """The numbers in the first fields, of rankings."""
        for line, fields in zip(self.lines, self.fields):
            if not is_number(fields[0]):
                refuse("score is not a number: " + quoted(" ".join(fields)), path, line)
        return [float(fields[0]) for fields in self.fields]


def read_predictions(path, n_rows, truth):
    """The Predictions of all rows of the file `truth`, n_rows or any number if that is None. With --names fields
    are separated by tabs, otherwise by blanks; a first field that is empty is an empty label set."""
    lines, fields, tabs = [], [], True
    for line, text in Source(path).lines():
        lines.append(line)
        tabs &= "\t" in text
        fields.append(text.split("\t") if "\t" in text else
                      [""] * (text[:1] in ("", " ")) + text.split())
    header = []
    if n_rows in (None, len(lines) - 1) and fields and fields[0][0] in ("label", "labels", "score"):
        header = fields[0]
        del lines[0], fields[0]
    if fields and fields[0][1:2] == ["Q0"]:
        refuse("is a run of --trec, not predictions", path)
    if n_rows not in (None, len(lines)):
        refuse(f"{len(lines)} predictions for the {n_rows} rows of {truth}", path)
    if not lines:
        refuse("has no predictions", path)
    last = [of[-1] for of in fields]
    # two columns of numbers: scores and names, if only the second is of whole numbers; labels and scores of
    # another program, if only the first is
    whole_last = all(text.isdigit() for text in last)
    whole_first = all(is_number(of[0]) and float(of[0]).is_integer() for of in fields)
    named = tabs and (len(fields[0]) > 2 or last == list(map(str, range(1, len(lines) + 1)))
                      or not all(map(is_number, last)) or header[-1:] == ["name"]
                      or whole_last and not whole_first)
    doubtful = tabs and not named and not header and whole_last and whole_first
    return Predictions(lines, fields, named, doubtful)


def read_scores(predictions, path, column):
    """The numbers in that column, from 1; if it is None, in the last of one or two."""
    scores = []
    if column is None and predictions.doubtful:
        refuse("two columns of numbers, scores and names or the other way round: --column N says which is the score",
               path, predictions.lines[0])
    for line, fields in zip(predictions.lines, predictions.fields):
        fields = fields if fields[0] else fields[1:]
        n = len(fields) - predictions.named
        if column is None and n not in (1, 2):
            refuse(f"{n} columns: --column N says which is the score", path, line)
        at = column or n
        if not 1 <= at <= len(fields):
            refuse(f"there is no column {at}", path, line)
        if not is_number(fields[at - 1]):
            refuse("score is not a number: " + quoted(fields[at - 1]), path, line)
        scores.append(float(fields[at - 1]))
    return scores


class Spellings:
    """The first spelling of each label."""

    def __init__(self):
        self._first = {}

    def __call__(self, label):
        key = float(label) if is_number(label) else label
        return self._first.setdefault(key, label)

    def all(self):
        """In order: numbers by value, then words."""
        numbers = sorted(key for key in self._first if isinstance(key, float))
        words = sorted(key for key in self._first if isinstance(key, str))
        return [self._first[key] for key in numbers + words]


def confusion(truth, predicted):
    """(labels, {(label, predicted): rows}, rows with the right label)"""
    spell, counts = Spellings(), {}
    for pair in zip(map(spell, truth), map(spell, predicted)):
        counts[pair] = counts.get(pair, 0) + 1
    return spell.all(), counts, sum(n for (true, guess), n in counts.items() if true == guess)


def label_scores(truth, predicted):
    """([(label, (rows, predicted, right), (precision, recall, F1))], rows with exactly the right set). Shares
    of nothing are None."""
    spell, counts, exact = Spellings(), {}, 0
    for true, guess in zip(truth, predicted):
        true, guess = {spell(label) for label in true}, {spell(label) for label in guess}
        exact += true == guess
        for label in true | guess:
            count = counts.setdefault(label, [0, 0, 0])
            count[0] += label in true
            count[1] += label in guess
            count[2] += label in true & guess
    scores = []
    for label in spell.all():
        rows, guesses, right = counts[label]
        scores.append((label, (rows, guesses, right),
                       (right / guesses if guesses else None, right / rows if rows else None,
                        2 * right / (rows + guesses))))
    return scores, exact


def query_accuracies(rows, scores):
    """{query: (rows with a label that is a number, pairwise accuracy or None)}."""
    queries = {}
    for row, score in zip(rows, scores):
        if is_number(row.label):
            labels, of = queries.setdefault(query_key(row.query), ([], []))
            labels.append(float(row.label))
            of.append(score)
    return {query: (len(labels), pairwise_accuracy(labels, of)) for query, (labels, of) in queries.items()}


def mean_accuracy(accuracies):
    """The mean over the queries with an accuracy and at least MIN_GROUP rows, or None."""
    counted = [accuracy for n, accuracy in accuracies.values() if n >= MIN_GROUP and accuracy is not None]
    return sum(counted) / len(counted) if counted else None


def query_measures(rows, scores, measure, path):
    """{query: measure, or None} of the rows of a file by svm-rank-predict, of the places of the scores within
    their query: measures depend on nothing else, and a feature holds a small integer exactly."""
    queries = {}
    for row, score in zip(rows, scores):
        queries.setdefault(query_key(row.query), set()).add(score)
    places = {query: {score: place for place, score in enumerate(sorted(of), 1)} for query, of in queries.items()}
    with tempfile.TemporaryDirectory() as folder:
        pair, model, ranked, table = (os.path.join(folder, name) for name in ("pair", "model", "rows", "table"))
        with open(pair, "w", encoding="ascii") as stream:
            stream.write("2 1:1\n1\n")  # of which the model is a score that rises with the feature
        with open(ranked, "w", encoding="utf-8", errors="surrogateescape") as stream:
            for row, score in zip(rows, scores):
                stream.write(format_row(Row(row.label, row.query, [(1, str(places[query_key(row.query)][score]))], "")) + "\n")
        name, _, at = measure.partition("@")
        for command in (["svm-rank-train", "-q", pair, model],
                        ["svm-rank-predict", "-q", "--by-query", table, *(["--" + name, at] if at else []), ranked,
                         model, os.devnull]):
            command[0] = program(command[0])
            code = subprocess.run(command, stdout=subprocess.DEVNULL, check=False).returncode
            if code:
                raise SystemExit(code if code > 0 else 128 - code)
        found = Table(table)
        if measure not in found.columns:
            refuse(f"has no {measure}: labels are not grades, or no row is relevant", path)
        query, value = found.column("query"), found.column(measure)
        return {fields[query]: float(fields[value]) if fields[value] else None for _, fields in found.rows()}
