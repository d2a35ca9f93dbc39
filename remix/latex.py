"""Texts for LaTeX: what is markup to it is escaped, and what its fonts have no letters for does not break a file."""

from __future__ import annotations

import itertools
import re
import unicodedata
from collections.abc import Mapping

from remix.cells import spell_out

_GREEK = (
    "αalpha βbeta γgamma δdelta εepsilon ζzeta ηeta θtheta ιiota κkappa λlambda μmu νnu ξxi πpi ρrho σsigma τtau "
    "υupsilon φphi χchi ψpsi ωomega ΓGamma ΔDelta ΘTheta ΛLambda ΞXi ΠPi ΣSigma ΦPhi ΨPsi ΩOmega"
)
"""Letters, each with the name that LaTeX has for it."""
_MARKUP: Mapping[str, str] = {
    **{sign: f"\\{sign}" for sign in "&%$#_{}"},
    "\\": "\\textbackslash{}",
    "~": "\\textasciitilde{}",
    "^": "\\textasciicircum{}",
    "<": "$<$",
    ">": "$>$",
    "|": "\\textbar{}",
    "\n": " ",
    "†": "$\\dagger$",
    "‡": "$\\ddagger$",
    "≤": "$\\leq$",
    "≥": "$\\geq$",
    "≠": "$\\neq$",
    "≈": "$\\approx$",
    "±": "$\\pm$",
    "×": "$\\times$",
    "·": "$\\cdot$",
    "−": "$-$",
    "∞": "$\\infty$",
    "∈": "$\\in$",
    "∪": "$\\cup$",
    "∩": "$\\cap$",
    "∅": "$\\emptyset$",
    "∖": "$\\setminus$",
    "→": "$\\rightarrow$",
    "←": "$\\leftarrow$",
    "–": "--",
    "—": "---",
    "…": "\\ldots{}",
    "\xa0": "~",
    **{named[0]: f"$\\{named[1:]}$" for named in _GREEK.split()},
    **{sign: f"$_{nth}$" for nth, sign in enumerate("₀₁₂₃₄₅₆₇₈₉")},
}
_OF_T1 = "«»ÐÞðþĄąĐđĘęĮįŊŋŲųǪǫ‚„‹›"
"""Letters that LaTeX has in the encoding T1 alone."""
_LATIN = "".join(chr(code) for code in range(0xA1, 0x180) if chr(code) not in f"{_OF_T1}ĦħĸĿŀŉŦŧſ")
_PLAIN = frozenset(
    f"{''.join(map(chr, range(0x20, 0x7F)))}\t\xad{_LATIN}{_OF_T1}"
    "ƒǍǎǏǐǑǒǓǔǢǣǦǧǨǩǰǴǵȘșȚțȲȳḂḃḍḞḟḠḡḥḰḱḷṃṅṇṛṣṭẎẏẐẑẞỲỳ‐‑‒―‖‘’“”•‰‱※‽€₡₤₦₩₫₱℃№℗℠™Ω℧℮↑↓ﬀﬁﬂﬃﬄ"
)
"""Letters that LaTeX sets as they are, in UTF-8 and whichever program sets it."""
OTHER = r"\\otherscript\{([^{}]*)\}\{([^{}]*)\}"
"""How letters that LaTeX has not stand in what `escape_latex` returns: they, and what stands for them."""
_COMMAND = (
    "\\providecommand{\\otherscript}[2]"
    "{\\ifdefined\\XeTeXversion{#1}\\else\\ifdefined\\directlua{#1}\\else{#2}\\fi\\fi}"
)


def escape_latex(text: str) -> str:
    r"""Return a text that LaTeX sets as it is: what is markup to it is escaped, signs that it knows by name are named.

    What its own fonts have no letters for stands in the command `\otherscript` (see `begin_with`).

    >>> escape_latex("50 % of R&D_1 ≥ α"), escape_latex(r"a\b~{c}")
    ('50 \\% of R\\&D\\_1 $\\geq$ $\\alpha$', 'a\\textbackslash{}b\\textasciitilde{}\\{c\\}')
    >>> escape_latex("Käse von 中国"), escape_latex("Thị")
    ('Käse von \\otherscript{中国}{??}', 'Th\\otherscript{ị}{i}')
    """
    letters = unicodedata.normalize("NFC", spell_out(text))
    found = ""
    for known, run in itertools.groupby(letters, key=lambda letter: letter in _PLAIN or letter in _MARKUP):
        said = "".join(run)
        if known:
            found += "".join(_MARKUP.get(letter, letter) for letter in said)
        else:
            found += f"\\otherscript{{{said}}}{{{''.join(map(_stand_in, said))}}}"
    return found


def _stand_in(letter: str) -> str:
    """Return the plain letter that one has marks on, nothing for what is not seen, else a question mark."""
    plain = unicodedata.normalize("NFKD", letter)[0]
    if plain.isascii() and plain.isalnum():
        return plain
    return "" if unicodedata.category(letter) in ("Mn", "Cf") else "?"


def begin_with(text: str, *, long: bool = False) -> list[str]:
    """Return the lines that come before a table whose texts these are: what it needs, said, and commands it has.

    A `long` table is longer than a page.
    """
    packages = "\\usepackage{booktabs,longtable}" if long else "\\usepackage{booktabs}"
    needs = [f"longer than a page: needs {packages}, and a page of one column" if long else f"needs {packages}"]
    if any(letter in text for letter in _OF_T1):
        needs.append("has letters that need \\usepackage[T1]{fontenc}")
    lines = [f"% {one}" for one in needs]
    if re.search(OTHER, text):
        lines += [
            "% has letters that the fonts of LaTeX lack: pdflatex sets plain letters or ? in their place; lualatex and",
            "% xelatex set them with a font that has them (fontspec; babel for what is read from right to left)",
            _COMMAND,
        ]
    return lines
