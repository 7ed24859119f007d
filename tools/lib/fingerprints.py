"""Fingerprints of molecules by RDKit, and the comment line that names their settings.

A file of rows begins with `# molecules --fingerprint morgan --radius 2 --bits 2048`, so that rows that are
written later can have the same columns (--like).
"""
import os
import shlex
import shutil
import subprocess
import sys

from lib.files import Source
from lib.svmlight import LARGEST_INDEX
from lib.tool import quoted, refuse

DEBIAN_PYTHON = "/usr/bin/python3"  # which has Debian's python3-rdkit, whatever python3 is first
MARK = "# molecules "
KINDS = ("morgan", "maccs")
OF_MORGAN = ("radius", "bits", "binary", "chirality")
FLAGS = ("binary", "chirality", "largest-fragment", "neutralise")
DEFAULTS = {"fingerprint": "morgan", "radius": 2, "bits": 2**11, **dict.fromkeys(FLAGS, False)}


def import_rdkit():
    """RDKit, from Debian's own Python if another one is first on the PATH."""
    try:
        from rdkit import RDLogger
    except ImportError:
        tried = os.environ.get("DUALSVM_MOLECULES_TRIED")
        if not tried and os.path.exists(DEBIAN_PYTHON) and \
                os.path.realpath(sys.executable) != os.path.realpath(DEBIAN_PYTHON):
            os.environ["DUALSVM_MOLECULES_TRIED"] = "1"
            os.execv(DEBIAN_PYTHON, [DEBIAN_PYTHON, os.path.abspath(sys.argv[0]), *sys.argv[1:]])
        refuse("RDKit is missing (Debian: apt-get install python3-rdkit)")
    RDLogger.DisableLog("rdApp.*")


def bits(text):
    """A power of two, as 2048 or 2^11; 0 for none."""
    number = 2 ** int(text[2:]) if text.startswith("2^") and text[2:].isdigit() and len(text) < 5 \
        else int(text) if text.isascii() and text.isdigit() and len(text) < 12 else -1
    if number != 0 and not (2 <= number <= 2**31 and number & (number - 1) == 0):
        raise ValueError
    return number


def radius(text):
    """A radius, 0 to 10."""
    if not (text.isascii() and text.isdigit() and int(text) <= 10):
        raise ValueError
    return int(text)


# ---- settings ----


def line_of(settings):
    """The first line of a file of rows, without its end."""
    words = ["--fingerprint", settings["fingerprint"]]
    if settings["fingerprint"] == "morgan":
        words += ["--radius", str(settings["radius"]), "--bits", str(settings["bits"])]
    words += [f"--{flag}" for flag in FLAGS if settings[flag]]
    return MARK + " ".join(words)


def read_line(path):
    """(line number, settings) of a file of rows: the comment before the first row."""
    for number, text in Source(path).lines():
        if text.startswith(MARK):
            return number, _parsed(text, path, number)
        if text.strip() and not text.startswith("#"):
            break
    refuse(f"does not begin with '{MARK}...', as files of molecules do: give --fingerprint, --radius, --bits "
           "instead of --like", path)


def _parsed(text, path, number):
    try:
        words = shlex.split(text[len(MARK):])
        settings = dict(DEFAULTS)
        while words:
            name = words.pop(0).removeprefix("--")
            if name in FLAGS:
                settings[name] = True
            elif name in ("radius", "bits"):
                settings[name] = bits(words.pop(0)) if name == "bits" else radius(words.pop(0))
            elif name == "fingerprint" and words[0] in KINDS:
                settings[name] = words.pop(0)
            else:
                raise ValueError
    except (ValueError, IndexError):
        refuse("settings of fingerprints cannot be read: " + quoted(text), path, number)
    return settings


def settings_of(given, like):
    """The settings that the options give (None: not given), the others from the file `like`, or the defaults.
    An option that differs from the file is refused."""
    if like is None:
        return {name: default if given[name] is None else given[name]
                for name, default in DEFAULTS.items()}
    number, settings = read_line(like)
    for name, value in given.items():
        foreign = settings["fingerprint"] == "maccs" and name in OF_MORGAN
        if value is not None and (foreign or value != settings[name]):
            option = f"--{name}" if value is True else f"--{name} {value}"
            refuse(f"its rows have {line_of(settings)[len(MARK):]}, not {option}", like, number)
    return settings


# ---- molecules ----


class Chemistry:
    """The functions of RDKit that the tools use; settings as above."""

    def __init__(self, settings):
        import_rdkit()
        from rdkit import Chem
        from rdkit.Chem import MACCSkeys, rdMolDescriptors
        from rdkit.Chem.MolStandardize import rdMolStandardize
        self.settings, self.chem = settings, Chem
        self.chooser = rdMolStandardize.LargestFragmentChooser(preferOrganic=True)
        self.uncharger = rdMolStandardize.Uncharger()
        self.maccs, self.descriptors = MACCSkeys, rdMolDescriptors
        self.has_inchi = hasattr(Chem, "MolToInchiKey")
        self.smiles = {}  # of InChI, where RDKit has none

    def read_inchi(self, texts):
        """Prepares InChI for molecule(): if this RDKit cannot read them, as Debian's, Open Babel
        converts all of them to SMILES in one run."""
        if self.has_inchi:
            return
        if not shutil.which("obabel"):
            refuse("this RDKit cannot read InChI (Debian's is built without it), and Open Babel is "
                   "missing (Debian: apt-get install openbabel)")
        texts = [text for text in texts if text.startswith("InChI=") and text.isprintable()]
        self.smiles.update(zip(texts, self._babel(texts)))

    def _babel(self, texts):
        """A SMILES for each InChI, or None. Open Babel silently omits InChI that it cannot read:
        then each half is converted separately."""
        if not texts:
            return []
        done = subprocess.run(["obabel", "-iinchi", "-osmi", "-e"], input="\n".join(texts) + "\n",
                              text=True, capture_output=True, check=False)
        found = [line.split("\t")[0].strip() for line in done.stdout.splitlines()]
        if len(found) == len(texts) and all(found):
            return found
        half = len(texts) // 2
        return self._babel(texts[:half]) + self._babel(texts[half:]) if half else [None]

    def molecule(self, text, is_inchi):
        """The molecule, or None."""
        if is_inchi and self.has_inchi:
            molecule = self.chem.MolFromInchi(text)
        else:
            text = self.smiles.get(text) if is_inchi else text
            molecule = self.chem.MolFromSmiles(text) if text else None
        return molecule if molecule is not None and molecule.GetNumAtoms() > 0 else None

    def has_fragments(self, molecule):
        return len(self.chem.GetMolFrags(molecule)) > 1

    def standardised(self, molecule):
        """The molecule without counterions and charges, as the settings say."""
        if self.settings["largest-fragment"] and self.has_fragments(molecule):
            molecule = self.chooser.choose(molecule)
        return self.uncharger.uncharge(molecule) if self.settings["neutralise"] else molecule

    def name(self, molecule):
        """The canonical SMILES."""
        return self.chem.MolToSmiles(molecule)

    def features(self, molecule):
        """[(index, value)] in ascending order."""
        settings = self.settings
        if settings["fingerprint"] == "maccs":
            found = self.maccs.GenMACCSKeys(molecule).GetOnBits()
            return [(bit, "1") for bit in found]
        counts = self.descriptors.GetMorganFingerprint(
            molecule, settings["radius"], useChirality=settings["chirality"]).GetNonzeroElements()
        folded = {}
        for code, count in counts.items():
            index = code % (settings["bits"] or LARGEST_INDEX) + 1
            folded[index] = folded.get(index, 0) + (1 if settings["binary"] else count)
        return [(index, "1" if settings["binary"] else str(folded[index])) for index in sorted(folded)]

    def key(self, molecule):
        """The key that stereoisomers share: the first block of the InChIKey, or without one the
        SMILES without stereochemistry and isotopes."""
        key = self.chem.MolToInchiKey(molecule) if self.has_inchi else ""
        return key.split("-", 1)[0] or self.chem.MolToSmiles(molecule, isomericSmiles=False)
