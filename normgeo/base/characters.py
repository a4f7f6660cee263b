"""Substitutes for characters: words for plain terminals, commands for LaTeX; and their widths."""

from __future__ import annotations

import re
from unicodedata import combining, east_asian_width

SPELLED = {
    "✓": "yes", "✗": "no", "≈": "~", "±": "+-", "×": "x", "÷": "/", "·": "*", "−": "-", "—": "-",
    "–": "-", "…": "...", "’": "'", "“": '"', "”": '"', "′": "'", "≥": ">=", "≤": "<=", "≠": "!=",
    "√": "sqrt", "ᵀ": "^T", "⊗": "(x)", "≫": ">>", "≪": "<<", "‖": "||", "°": " degrees",
    "∝": "~", "∞": "inf", "→": "->", "½": "1/2", "¼": "1/4", "¾": "3/4", "Γ": "Gamma",
    "Δ": "Delta", "Σ": "Sigma", "Ω": "Omega", "α": "alpha", "β": "beta", "γ": "gamma",
    "δ": "delta", "ε": "eps", "ν": "nu", "ξ": "xi", "τ": "tau",
    "η": "eta", "θ": "theta", "κ": "kappa", "λ": "lambda", "μ": "mu", "π": "pi", "ρ": "rho",
    "σ": "sigma", "φ": "phi", "χ": "chi", "ℓ": "l", "₁": "_1", "₂": "_2",
}  # fmt: skip
"""The words for a character that an encoding lacks."""

_GREEK = {c: f"$\\{word}$" for c, word in SPELLED.items() if word.isalpha() and c.isalpha()}
RAISED = re.compile("[⁻⁰¹²³⁴⁵⁶⁷⁸⁹]+")  # exponents: a sign and its digits together
_LOWERED = str.maketrans("⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "-0123456789")

LATEX = str.maketrans({
    **{c: f"\\{c}" for c in "&%$#_{}"}, **{c: f"${c}$" for c in "<>|"},
    # After \\, LaTeX would read these two as its options.
    "[": "{[}", "*": "{*}",
    **_GREEK, "ε": r"$\varepsilon$", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}",
    "\\": r"\textbackslash{}", "✓": r"$\checkmark$", "✗": "no", "≈": r"$\approx$",
    "±": r"$\pm$", "×": r"$\times$", "÷": r"$\div$", "·": r"$\cdot$", "−": "$-$", "—": "---",
    "–": "--",
    "…": r"\dots{}", "′": "$'$", "≥": r"$\ge$", "≤": r"$\le$", "≠": r"$\ne$", "‖": r"$\|$",
    "√": r"$\surd$", "’": "'", "“": "``", "”": "''", "∝": r"$\propto$", "∞": r"$\infty$",
    "→": r"$\to$", "¾": "$3/4$", "ℓ": r"$\ell$", "₁": "$_1$", "₂": "$_2$",
    "ᵀ": r"$^\top$", "⊗": r"$\otimes$", "≫": r"$\gg$", "≪": r"$\ll$", "½": "$1/2$",
    "¼": "$1/4$", "°": r"$^\circ$",
})  # fmt: skip
"""The LaTeX for a character; ✗ is a word, since × stands for a product."""

MARKDOWN = str.maketrans({c: f"\\{c}" for c in "\\`*<|[]$"})
"""The Markdown for a character in the cell of a table."""


def spell(words: str, encoding: str) -> str:
    """Return the words with `SPELLED` for every character that an encoding lacks, or "?".

    >>> spell("δ × 3", "ascii"), spell("δ × 3", "latin-1"), spell("10⁻¹⁶", "latin-1")
    ('delta x 3', 'delta × 3', '10^-16')

    """
    if _encodes(words, encoding):
        return words
    words = RAISED.sub(
        lambda run: run[0] if _encodes(run[0], encoding) else "^" + run[0].translate(_LOWERED),
        words,
    )
    return "".join(c if _encodes(c, encoding) else SPELLED.get(c, "?") for c in words)


def latex(words: str) -> str:
    r"""Return the words escaped for LaTeX.

    >>> latex("2 · 10⁻¹⁶ & δ")
    '2 $\\cdot$ 10$^{-16}$ \\& $\\delta$'

    """
    pieces, end = "", 0
    for run in RAISED.finditer(words):
        power = run[0].translate(_LOWERED)
        pieces += words[end : run.start()].translate(LATEX) + f"$^{{{power}}}$"
        end = run.end()
    return pieces + words[end:].translate(LATEX)


def code(words: str) -> str:
    """Return the words as code in Markdown, so that nothing in them is markup.

    >>> code("[a](b)"), code("a`b"), code("`")
    ('`[a](b)`', '``a`b``', '`` ` ``')

    """
    fence = "`" * (1 + max(map(len, re.findall("`+", words)), default=0))
    space = " " if words.startswith("`") or words.endswith("`") or not words.strip() else ""
    return f"{fence}{space}{words}{space}{fence}"


def width_of(words: str) -> int:
    """Return how many columns of a terminal the words take.

    >>> width_of("norm"), width_of("정규화")
    (4, 6)

    """
    return sum(1 + (east_asian_width(c) in "WF") for c in words if not combining(c))


def _encodes(words: str, encoding: str) -> bool:
    try:
        words.encode(encoding)
    except UnicodeEncodeError:
        return False
    return True
