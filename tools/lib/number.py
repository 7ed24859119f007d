"""Numbers as the programs read and write them.

    [+-] digits [. digits] [e [+-] digits]

with a digit before the exponent. nan, inf, hexadecimal and Python's 1_000 are no numbers.
"""
import re
import struct

PATTERN = r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?"
NUMBER = re.compile(PATTERN, re.ASCII)
LARGEST = (2 - 2.0**-24) * 2.0**127  # from here on, single precision rounds to infinity


def is_number(text):
    return NUMBER.fullmatch(text) is not None


def fault_of_value(text):
    """The error of the text of a feature's value, or None."""
    if NUMBER.fullmatch(text):
        return "value is too large for single precision" if abs(float(text)) >= LARGEST else None
    if not text:
        return "value is missing"
    if text.lstrip("+-").lower()[:3] in ("nan", "inf"):
        return "value is not finite"
    return "value is not a number"


def shortest(value):
    """The shortest decimal that reads back to the double; 1, not 1.0."""
    text = repr(float(value))
    return text[:-2] if text.endswith(".0") else text


def single(value):
    """The value rounded to single precision."""
    return struct.unpack("<f", struct.pack("<f", value))[0]


def shortest_single(value):
    """The same for a number in single precision."""
    for digits in range(1, 10):
        text = f"{value:.{digits}g}"
        if single(float(text)) == value:
            break
    return shortest(float(text))
