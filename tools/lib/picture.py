"""Pictures by gnuplot: SVG, PNG or PDF by the name's end.

Colours are those of Okabe and Ito ("Color universal design", 2008), which colour-blind readers tell
apart; lines differ in their dashes too, for prints without colour. A script is built in memory, its
data in it, and the picture takes its place only when gnuplot is content.
"""
import html
import math
import os
import shutil
import subprocess
import tempfile

from lib.files import Outputs
from lib.tool import refuse, size

COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
DASHES = ("solid", "(24,8)", "(6,6)", "(24,6,6,6)", "(40,8)", "(24,6,6,6,6,6)", "(12,6)")
GREY = "#777777"
# Two hues through white, dark at both ends; and one from light to dark (viridis).
DIVERGING = "(-1 '#2166ac', -0.5 '#92c5de', 0 '#f7f7f7', 0.5 '#f4a582', 1 '#b2182b')"
RISING = ("(0 '#440154', 1 '#472d7b', 2 '#3b528b', 3 '#2c728e', 4 '#21918c', 5 '#28ae80', "
          "6 '#5ec962', 7 '#addc30', 8 '#fde725')")
ENDS = (".svg", ".png", ".pdf")
DOTS = 200  # of a PNG, per inch
CHARACTER = 0.09  # the width of a digit in the axes' font, in inches, with a tenth to spare


def string(text):
    """The text as a gnuplot string in double quotes: every character with a meaning in these, or to a
    macro, a command in backquotes or a format, stands in octal. (In single quotes a quote cannot come
    first: gnuplot takes '' for an empty string.)"""
    clean = "".join(c if c.isprintable() else " " for c in str(text))
    return '"' + "".join(c if c.isalnum() or c in " .,:;=+-()" or ord(c) > 127 else f"\\{ord(c):03o}"
                         for c in clean) + '"'


def tick(text):
    """A string at a tick, which gnuplot formats with the tick's value where it has a percent sign."""
    return string(str(text).replace("%", "%%"))


def superscript(number):
    return str(number).translate(str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"))


def add_options(parser, default="6.4x4.8"):
    """Adds the arguments of all pictures to a parser."""
    parser.add_argument("picture", help="NAME.svg, NAME.png or NAME.pdf")
    parser.add_argument("--title", help="a line above the picture")
    parser.add_argument("--size", type=size, default=default, metavar="WxH",
                        help=f"inches (default {default})")


class Picture:
    """A gnuplot script: set(...) and plot(...), then draw()."""

    def __init__(self, options):
        self.path = options.picture
        self.size, self.title = options.size, options.title
        self.lines, self.plots, self.n_blocks = [], [], 0
        if not self.path.endswith(ENDS):
            refuse("a name that ends in .svg, .png or .pdf is expected", self.path)
        if not shutil.which("gnuplot"):
            refuse("gnuplot is missing (Debian: apt-get install gnuplot-nox)")
        self.set("encoding utf8", "format '%h'", "xlabel offset 0,0.4", "border 3 linewidth 1",
                 "tics nomirror out", "grid linecolor rgb '#dddddd' linetype 1 linewidth 0.5")
        if self.title:
            self.set(f"title {string(self.title)}")

    def set(self, *what):
        self.lines += [f"set {text}" for text in what]

    def data(self, rows):
        """A block of rows of numbers (None begins a new part); returns its name."""
        self.n_blocks += 1
        name = f"$block{self.n_blocks}"
        self.lines.append(f"{name} << EOD")
        self.lines += ["" if row is None else " ".join(
            x if isinstance(x, str) else f"{x:.10g}" for x in row) for row in rows]
        self.lines.append("EOD")
        return name

    def plot(self, block, how, title=None):
        title = "notitle" if title is None else f"title {string(title)}"
        self.plots.append(f"{block} {how} {title}")

    def style(self, number):
        """Colour and dashes of the curve of that number, from 0."""
        n = number % len(COLOURS)
        return f"linecolor rgb '{COLOURS[n]}' dashtype {DASHES[n]} linewidth 2"

    def steps(self, axis, low, high):
        """At most seven ticks of a linear axis, with as many decimals each."""
        step = 10.0 ** math.floor(math.log10(high - low))
        step = next(step * k for k in (0.1, 0.2, 0.5, 1, 2) if (high - low) / (step * k) <= 6)
        self.set(f"{axis}tics {step:.10g}")
        if 1e-4 <= step < 1:
            self.set(f"format {axis} '%.{math.ceil(-math.log10(step) - 1e-9)}f'")

    def powers(self, axis, low, high):
        """A logarithmic axis with ticks at powers of ten, to the powers around low and high."""
        first, last = math.floor(math.log10(low)), math.ceil(math.log10(high))
        last = max(last, first + 1)
        step = -(-(last - first) // 10)
        ticks = [f"{tick('10' + superscript(k))} 1e{k}" for k in range(first, last + 1, step)]
        if step == 1:
            ticks += [f"'' {m}e{k} 1" for k in range(first, last) for m in range(2, 10)]
        self.set(f"logscale {axis}", f"{axis}range [1e{first}:1e{last}]",
                 f"{axis}tics ({', '.join(ticks)})")

    def key_below(self, widest):
        """A legend under the axes, in as many columns as the longest of its texts allows."""
        columns = max(1, int(self.size[0] * 11 / (widest + 8)))
        self.set(f"key outside bottom center horizontal maxcols {columns} samplen 2.5 spacing 1.2 "
                 "Left reverse")

    def small_font(self):
        """The font of names within a picture: two thirds of the axes' size."""
        size = {".svg": 14, ".png": 11 * DOTS / 96, ".pdf": 11}[self.path[-4:]]
        return f"font ',{size * 2 / 3:.4g}'"

    def label_font(self, texts, width, height):
        """The font option of texts in cells of that many inches: the axes', the small one, or None."""
        longest = max(map(len, texts))
        for factor, font in ((1, ""), (2 / 3, self.small_font())):
            if longest * factor * CHARACTER < width and 2 * factor * CHARACTER < height:
                return font
        return None

    def _terminal(self):
        width, height = self.size
        return {
            ".svg": f"svg size {width * 96:.0f},{height * 96:.0f} font 'Helvetica,14' "
                    "background 'white' rounded noenhanced",
            ".png": f"pngcairo size {width * DOTS:.0f},{height * DOTS:.0f} "
                    f"font 'Helvetica,{11 * DOTS / 96:.4g}' linewidth {DOTS / 96:.3g} "
                    f"pointscale {DOTS / 96:.3g} background 'white' rounded noenhanced",
            ".pdf": f"pdfcairo size {width},{height} font 'Helvetica,11' rounded noenhanced",
        }[self.path[-4:]]

    def draw(self):
        with tempfile.TemporaryDirectory() as folder, Outputs() as outputs:
            drawn = os.path.join(folder, "picture")
            script = [f"set terminal {self._terminal()}", f"set output {string(drawn)}", *self.lines,
                      "plot " + ", \\\n     ".join(self.plots), "unset output"]
            done = subprocess.run(["gnuplot", "-"], input="\n".join(script) + "\n", text=True,
                                  capture_output=True, check=False)
            if done.returncode != 0 or not os.path.exists(drawn):
                said = [line.strip() for line in done.stderr.splitlines() if line.strip(" ^\t")]
                refuse("gnuplot: " + (said[-1] if said else f"exit {done.returncode}"))
            with open(drawn, "rb") as picture:
                outputs.binary(self.path).write(self._named(picture.read()))

    def _named(self, drawn):
        """The picture; in SVG its title, which browsers show as the name, is --title or the file's name."""
        name = self.title or os.path.splitext(os.path.basename(self.path))[0]
        return drawn.replace(b"<title>Gnuplot</title>", b"<title>%s</title>" % os.fsencode(html.escape(name, quote=False)), 1)
