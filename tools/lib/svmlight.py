"""Rows of svmlight text (doc/formats.md), with the programs' rules and their messages.

    LABEL[,LABEL...] [qid:QUERY] INDEX:VALUE ... [# COMMENT]

Numbers stay the text that they were, so that what goes through a tool does not change.
"""
import re
from decimal import Decimal
from typing import List, NamedTuple, Optional, Tuple

from lib.number import LARGEST, PATTERN, fault_of_value, is_number
from lib.tool import quoted, refuse

LARGEST_INDEX = 2**32 - 1
FIRST = re.compile(r"[ \t]*([^ \t]*)")
TOKEN = re.compile(r"[^ \t]+")
PLAIN = re.compile(rf"[ \t]*(?:qid:([^ \t]+)(?:[ \t]+|$))?((?:[1-9][0-9]{{0,8}}:{PATTERN}(?:[ \t]+|$))*)", re.ASCII)
MATRIX = re.compile(r"# matrix ([0-9]{1,10}) ([0-9]{1,10})(?: |$)", re.ASCII)


class Row(NamedTuple):
    """One row; serial is that of a precomputed kernel."""

    label: str  # labels with commas between; "" for none
    query: Optional[str]
    features: List[Tuple[int, str]]  # (index, value), indices ascending
    comment: str  # without the #; "" for none
    serial: Optional[str] = None

    @property
    def labels(self):
        return self.label.split(",") if self.label else []


def query_key(text):
    """The text of a qid, as the programs print it: 1, +1 and 1.0 are one query. None: None."""
    if text is None or not is_number(text):
        return text
    if text.isdigit():
        return str(int(text)) if len(text) < 20 and int(text) < 2**63 else text
    value = Decimal(text)
    return str(int(value)) if 0 <= value < 2**31 and value == int(value) else text


class Rules:
    """Corrections that a reader makes beyond the programs' rules, and what it has found."""

    def __init__(self, zero_based=False, sort=False, missing="error", missing_words=()):
        self.zero_based, self.sort, self.missing = zero_based, sort, missing
        self.words = frozenset(missing_words)  # texts of values
        self.numbers = frozenset(float(word) for word in missing_words if is_number(word))
        self.says_zero_based = False  # a comment line
        self.has_zero = False  # index 0 among the features
        self.are_plain = not (zero_based or sort or missing_words)

    def is_missing(self, value):
        return value in self.words or is_number(value) and float(value) in self.numbers


def matrix_shape(source):
    """(rows, columns) of the matrices from the first line, or None."""
    match = MATRIX.match(next(source.lines(), (1, ""))[1])
    return (int(match.group(1)), int(match.group(2))) if match else None


def shape_argument(text):
    """RxC of an option."""
    match = re.fullmatch(r"([1-9][0-9]{0,9})x([1-9][0-9]{0,9})", text, re.ASCII)
    if not match:
        raise ValueError
    return int(match.group(1)), int(match.group(2))


def is_index(text):
    return text.isascii() and text.isdigit()


def plain_features(text):
    """(query, features) of a row without a fault that needs no rules, found fast; else None."""
    match = PLAIN.fullmatch(text)
    if not match:
        return None
    pairs = [part.split(":") for part in match.group(2).split()]
    features = [(int(index), value) for index, value in pairs]
    ascend = all(one[0] < next_one[0] for one, next_one in zip(features, features[1:]))
    return (match.group(1), features) if ascend and all(abs(float(v)) < LARGEST for _, v in features) else None


def parse_row(line, path, number, rules=None):
    """The row of a line, or None if it is blank, only a comment, or omitted by the rules."""
    rules = rules or Rules()
    if line.startswith("\ufeff"):
        refuse("byte order mark within the text", path, number)
    first = FIRST.match(line)
    label = first.group(1)
    if not label or label[0] == "#":
        rules.says_zero_based |= "zero-based" in line
        return None
    # a # within the label belongs to it; after the label it begins the comment
    label, start = (label, first.end()) if ":" not in label else ("", first.start(1))
    body, _, comment = line[start:].partition("#")
    if label:
        if line[0] in " \t" and "," in label:
            refuse("labels stand behind a blank: " + quoted(label), path, number)
        names = label.split(",")
        if "" in names:
            refuse("label is empty: " + quoted(label), path, number)
        if len(set(names)) < len(names):
            refuse("label is given twice: " + quoted(label), path, number)
    plain = rules.are_plain and plain_features(body)
    if plain:
        return Row(label, *plain, comment.strip(" \t"))
    query, serial, features, last = None, None, [], -1 if rules.zero_based else 0
    for part in TOKEN.findall(body):
        name, colon, value = part.partition(":")
        if name == "qid" and colon:
            if query is not None or features or serial is not None:
                what = "qid is given twice" if query is not None else "qid stands behind a feature"
                refuse(what, path, number)
            if not value:
                refuse("query is missing behind qid:", path, number)
            query = value
            continue
        if not colon:
            refuse("no colon behind the index: " + quoted(part), path, number)
        if not is_index(name):
            refuse("index is not a whole number: " + quoted(part), path, number)
        index = int(name) if len(name) < 20 else LARGEST_INDEX + 1
        if index + rules.zero_based > LARGEST_INDEX:
            refuse(f"index is over {LARGEST_INDEX}: " + quoted(part), path, number)
        if index == 0 and not rules.zero_based:
            if features or serial is not None or not is_index(value):
                refuse("index is 0 (indices count from 1)"
                       + (" (a comment says zero-based: convert --zero-based)"
                          if rules.says_zero_based else "; see convert --zero-based"), path, number)
            serial = value
            continue
        if index <= last and not rules.sort:
            refuse("index is not above the one before: " + quoted(part), path, number)
        last = index
        rules.has_zero |= index == 0
        if rules.is_missing(value):
            if rules.missing == "error":
                refuse(f"value is {value or 'missing'} (see --missing)", path, number)
            if rules.missing == "skip":
                return None
            if rules.missing == "0":
                continue
            value = rules.missing
        fault = fault_of_value(value)
        if fault:
            refuse(f"{fault}: {quoted(part)}", path, number)
        features.append((index + rules.zero_based, value))
    if rules.sort:
        features.sort(key=lambda pair: pair[0])
        for (index, _), (following, _) in zip(features, features[1:]):
            if index == following:
                refuse(f"index is given twice: {index - rules.zero_based}", path, number)
    return Row(label, query, features, comment.strip(" \t"), serial)


def read_rows(source, rules=None):
    """(line number, Row) of a Source."""
    rules = rules or Rules()
    for number, line in source.lines():
        if "\r" in line:
            refuse("CR without LF", source.path, number)
        row = parse_row(line, source.path, number, rules)
        if row is not None:
            yield number, row


def format_row(row):
    """The line of a row, without its end. An empty row keeps a zero, since an empty line is not a row."""
    parts = [row.label] if row.label else []
    if row.query is not None:
        parts.append("qid:" + row.query)
    if row.serial is not None:
        parts.append("0:" + row.serial)
    parts += [f"{index}:{value}" for index, value in row.features]
    if not parts:
        parts = ["1:0"]
    if row.comment:
        parts.append("# " + row.comment)
    return " ".join(parts)


def word(text):
    """The text as a token of a row: blanks, commas, colons and # become _."""
    return re.sub(r"[\s,:#\x00-\x1f\x7f]+", "_", text.strip())


class Words:
    """Turns names into tokens, and refuses two names that become one."""

    def __init__(self, what):
        self.what = what
        self._name = {}  # by token
        self._token = {}

    def __call__(self, text, path, number):
        token = self._token.get(text)
        if token is None:
            token = word(text)
            if not token:
                refuse(f"{self.what} is empty", path, number)
            name = self._name.setdefault(token, text)
            if name != text and name.strip() != text.strip():
                refuse(f"'{name}' and '{text}' would both be written as {self.what} '{token}'",
                       path, number)
            self._token[text] = token
        return token
