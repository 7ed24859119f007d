"""Tables of candidate structures: a row for each candidate of a measured feature, with its MS/MS score and
the feature's retention time. SIRIUS and MetFrag write such tables; PRESETS has their columns."""
import math
import os
import re
from typing import NamedTuple, Optional, Tuple

from lib.files import Source, plain_name
from lib.formats.layout import choose
from lib.formats.tables import Decimals, Records
from lib.number import is_number, shortest
from lib.svmlight import Words
from lib.tool import quoted, refuse, say, shown

MISSING = {"", "nan", "na", "n/a", "null", "none", "-inf", "-infinity"}  # in lower case
MINUTES = ("minutes", "rt", "retention_time", "retention time", "rettime", "tr", "time",
           "retentiontimeinminutes")

PER_MINUTE = {"s": 60, "sec": 60, "second": 60, "seconds": 60,
              "m": 1, "min": 1, "mins": 1, "minute": 1, "minutes": 1}
UNIT = re.compile(r"\s*(?:[\[(]\s*(\w+)\s*[\])]|/\s*(\w+))$")  # at the end of a column's name


def without_unit(column):
    """The name of a column without a unit of time such as (min) or [s], and how many of these units a minute
    has, or None."""
    match = UNIT.search(column)
    per_minute = PER_MINUTE.get((match[1] or match[2]).lower()) if match else None
    return column[:match.start()] if per_minute else column, per_minute


def usual_column(columns, usual):
    """The number of the first column of a usual name, or of one with a unit of time, or None."""
    lower, bare = ([name.lower() for name in names]
                   for names in (columns, [without_unit(column)[0] for column in columns]))
    return next((names.index(name) for names in (lower, bare) for name in usual if name in names), None)


class Preset(NamedTuple):
    """Names of columns, in lower case; the first that a table has is taken."""

    score: Tuple[str, ...]
    smiles: Tuple[str, ...]
    inchi: Tuple[str, ...]
    names: Tuple[str, ...] = ()
    feature: Tuple[str, ...] = ()
    feature_from: Optional[str] = None  # if there is no such column: "file" or "folder"
    minutes: Tuple[str, ...] = ()
    seconds: Tuple[str, ...] = ()
    run: Tuple[str, ...] = ()


PRESETS = {
    None: Preset(score=("score", "ms-score", "ms_score", "ms2_score", "msms_score"),
                 smiles=("smiles", "structure"), inchi=("inchi",),
                 feature=("feature", "feature_id", "featureid", "qid"),
                 minutes=MINUTES, seconds=("retentiontimeinseconds",),
                 run=("run", "system", "dataset", "method")),
    # SIRIUS 6: structure_identifications_all.tsv, whose retentionTimeInSeconds is rounded to whole seconds.
    # SIRIUS 4 and 5: structure_candidates.tsv in a folder for each feature.
    "sirius": Preset(score=("csi:fingeridscore",), smiles=("smiles",), inchi=("inchi",),
                     names=("inchikey2d",), feature=("mappingfeatureid", "alignedfeatureid"),
                     feature_from="folder", minutes=("retentiontimeinminutes",),
                     seconds=("retentiontimeinseconds",)),
    # MetFrag: a CSV for each feature, SampleName.csv.
    "metfrag": Preset(score=("score",), smiles=("smiles",), inchi=("inchi",), names=("identifier",),
                      feature_from="file"),
}


class Candidate(NamedTuple):
    line: int
    feature: str  # as written: a word
    structure: str
    is_inchi: bool
    name: str
    score: str  # a number, or "nan"


class Table:
    """A file of candidates, and the numbers of its columns (None: it has no such column)."""

    def __init__(self, path, options):
        self.path, self.options = path, options
        source = Source(path, encoding=options.encoding)
        tabs = plain_name(path).endswith((".tsv", ".tab"))
        # SIRIUS quotes all words of a TSV or, by default, none: names may then have quotes
        plain = options.preset == "sirius" and tabs and \
            not next(source.lines(), (1, ""))[1].startswith('"')
        self.records = Records(source, tabs=tabs, quotes=not plain)
        self.decimals = Decimals(self.records, options.decimal_comma)
        preset = PRESETS[options.preset]
        self.score = self._column(options.score, "--score", preset.score)
        self.is_inchi = options.inchi is not None
        if options.inchi is not None or options.smiles is not None:
            self.structure = self._column(options.inchi or options.smiles,
                                          "--inchi" if self.is_inchi else "--smiles", ())
        else:
            self.structure = self._column(None, "", preset.smiles)
            if self.structure is None:
                self.structure, self.is_inchi = self._column(None, "", preset.inchi), True
        self.feature = None
        self.feature_from = options.feature_from
        if self.feature_from is None:
            self.feature = self._column(options.feature, "--feature", preset.feature)
            if self.feature is None:
                self.feature_from = preset.feature_from
        self._require(self.score, "the score", "--score COLUMN")
        self._require(self.structure, "the structure", "--smiles or --inchi COLUMN")
        self._require(0 if self.feature_from else self.feature, "the feature",
                      "--feature COLUMN, or --feature-from file")
        self.time, self.per_minute = self._time(preset)
        self.run = self._column(options.run, "--run", preset.run)
        names = options.names or [self.records.columns[i] for i in
                                  [self._column(None, "", preset.names)] if i is not None]
        self.names = choose(self.records.columns, names, "--names", path)

    def _column(self, given, option, usual):
        if given is not None:
            found = choose(self.records.columns, [given], option, self.path)
            if len(found) != 1:
                refuse(f"{option}: one column is expected", self.path, 1)
            return found[0]
        return usual_column(self.records.columns, usual)

    def _require(self, column, what, options):
        if column is None:
            preset = self.options.preset
            by = f"not a table of {preset}: " if preset else ""
            refuse(f"{by}which column is {what}? {options} (columns: {self.records.listed()})",
                   self.path, 1)

    def _time(self, preset):
        """The column of the time, and how many of its units a minute has."""
        given = PER_MINUTE.get(self.options.time_unit)
        if self.options.time is not None:
            column = self._column(self.options.time, "--time", ())
            name, unit = without_unit(self.records.columns[column])
            return column, given or unit or (60 if name.lower() in preset.seconds else 1)
        for usual, found in ((preset.minutes, 1), (preset.seconds, 60)):
            column = self._column(None, "", usual)
            if column is not None:
                return column, given or without_unit(self.records.columns[column])[1] or found
        return None, 1

    def name_of_file(self):
        """The feature of the whole file."""
        if self.path == "-":
            refuse("standard input has no name for its feature: --feature COLUMN", self.path)
        if self.feature_from == "folder":
            return os.path.basename(os.path.dirname(os.path.abspath(self.path)))
        return os.path.splitext(os.path.basename(plain_name(self.path)))[0]

    def number(self, text, what, line):
        """The text of a number, or "nan"."""
        text = text.strip()
        if text.lower() in MISSING:
            return "nan"
        text = self.decimals(text, line)
        if not is_number(text):
            refuse(f"{what} is not a number: {quoted(text)}", self.path, line)
        if math.isinf(float(text)):
            refuse(f"{what} is too large: {quoted(text)}", self.path, line)
        return text

    def rows(self, words):
        """(Candidate, fields) of each record."""
        whole = None if self.feature is not None else self.name_of_file()
        for line, fields in self.records.rows():
            feature = words(whole if whole is not None else fields[self.feature], self.path, line)
            structure = fields[self.structure].strip()
            name = " ".join(" ".join(fields[i].split()) for i in self.names).strip() or " ".join(structure.split())
            score = self.number(fields[self.score], "score", line)
            is_inchi = self.is_inchi or structure.startswith("InChI=")
            yield Candidate(line, feature, structure, is_inchi, name, score), fields


def read_tables(options):
    """The tables of all inputs. Files without a column for the feature need different names."""
    tables, files = [], {}
    for path in options.input:
        table = Table(path, options)
        if table.feature is None:
            name = table.name_of_file()
            if name in files:
                refuse(f"its {table.feature_from} has the name of another input's, {shown(files[name])}: "
                       f"'{name}' (see --feature, --feature-from)", path)
            files[name] = path
        tables.append(table)
    if options.times is not None and all(table.time is None for table in tables):
        refuse(f"which column is the time? --time COLUMN (columns: {tables[0].records.listed()})",
               tables[0].path, 1)
    return tables


class Times:
    """Minutes and run of each feature."""

    def __init__(self):
        self.found = {}  # feature: (minutes as text, run or None, path, line)
        self.run_word = Words("run")

    def add(self, table, candidate, fields):
        if table.time is None:
            return
        text = table.number(fields[table.time], "time", candidate.line)
        if text == "nan":
            return
        if table.per_minute != 1:
            text = shortest(float(text) / table.per_minute)
        run = None if table.run is None else \
            self.run_word(fields[table.run], table.path, candidate.line)
        old = self.found.setdefault(candidate.feature, (text, run, table.path, candidate.line))
        feature = quoted(candidate.feature)
        if float(old[0]) != float(text):
            refuse(f"feature {feature} has {text} minutes, but {old[0]} in {shown(old[2])}:{old[3]}",
                   table.path, candidate.line)
        if old[1] != run:
            refuse(f"feature {feature} is of run {quoted(run or '')}, but of {quoted(old[1] or '')} in "
                   f"{shown(old[2])}:{old[3]}: features of different runs need different names",
                   table.path, candidate.line)

    def write(self, write):
        """A line for each feature: name, minutes, run."""
        runs = any(run is not None for _, run, *_ in self.found.values())
        write("feature\tminutes" + ("\trun\n" if runs else "\n"))
        for feature, (minutes, run, *_) in self.found.items():
            write(f"{feature}\t{minutes}" + (f"\t{run}\n" if runs else "\n"))


class Survey:
    """The first reading of all tables: times, and the best score of each candidate that occurs twice."""

    def __init__(self, tables, words, wants_times):
        self.times = Times()
        self.repeated = set()  # (number of the table, line)
        self.features = {}  # number of candidates
        self._tables, self._best = tables, {}  # (feature, name): (score, structure, table and line)
        for number, table in enumerate(tables):
            for candidate, fields in table.rows(words):
                if wants_times:
                    self.times.add(table, candidate, fields)
                self._add(number, candidate)
        if not self._best:
            refuse("has no candidates", tables[0].path)

    def _add(self, number, candidate):
        score = float("-inf") if candidate.score == "nan" else float(candidate.score)
        key, here = (candidate.feature, candidate.name), (number, candidate.line)
        old = self._best.setdefault(key, (score, candidate.structure, here))
        if old[2] == here:
            self.features[candidate.feature] = self.features.get(candidate.feature, 0) + 1
            return
        if old[1] != candidate.structure:
            path = shown(self._tables[old[2][0]].path)
            refuse(f"feature {quoted(candidate.feature)} has two structures named "
                   f"{quoted(candidate.name)}, the other in {path}:{old[2][1]} (see --names)",
                   self._tables[number].path, candidate.line)
        if score > old[0]:
            self._best[key] = (score, candidate.structure, here)
        self.repeated.add(old[2] if score > old[0] else here)

    def check_times(self):
        if not self.times.found:
            refuse("no feature has a time")

    def report(self, wants_times):
        """Notes on what the tables have."""
        for table in self._tables:
            table.decimals.report()
        if self.repeated:
            n = len(self.repeated)
            say(f"{n} row{'s' if n > 1 else ''} left out: candidates that their feature has again, with a "
                "score at least as large")
        if len(self.features) > 1 and max(self.features.values()) == 1:
            say("each feature has one candidate: is this a table of best hits only?")
        n = sum(feature not in self.times.found for feature in self.features) if wants_times else 0
        if n:
            say(f"{n} of {len(self.features)} features have no time")
