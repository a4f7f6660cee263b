"""Characters in places that lack them: words for plain terminals, commands for LaTeX, widths."""

from __future__ import annotations

from unicodedata import combining, east_asian_width

SPELLED = {
    "✓": "yes", "✗": "no", "≈": "~", "±": "+-", "×": "x", "·": "*", "−": "-", "—": "-", "–": "-",
    "…": "...", "’": "'", "′": "'", "≥": ">=", "≤": "<=", "≠": "!=", "√": "sqrt",
    "²": "^2", "³": "^3", "⁴": "^4", "ᵀ": "^T", "⊗": "(x)", "≫": ">>", "‖": "||", "°": " degrees",
    "½": "1/2", "¼": "1/4", "Γ": "Gamma", "Δ": "Delta", "Σ": "Sigma", "α": "alpha", "β": "beta",
    "γ": "gamma", "δ": "delta", "ε": "eps", "η": "eta", "θ": "theta", "λ": "lambda", "μ": "mu",
    "σ": "sigma", "φ": "phi", "χ": "chi",
}  # fmt: skip
"""What stands for a character in an encoding that lacks it."""

_GREEK = {c: f"$\\{word}$" for c, word in SPELLED.items() if word.isalpha() and c.isalpha()}
LATEX = str.maketrans({
    **{c: f"\\{c}" for c in "&%$#_{}"}, **{c: f"${c}$" for c in "<>|"},
    # After \\, these two would be read as its options.
    "[": "{[}", "*": "{*}",
    **_GREEK, "ε": r"$\varepsilon$", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}",
    "\\": r"\textbackslash{}", "✓": r"$\checkmark$", "✗": "no", "≈": r"$\approx$",
    "±": r"$\pm$", "×": r"$\times$", "·": r"$\cdot$", "−": "$-$", "—": "---", "–": "--",
    "…": r"\dots{}", "′": "$'$", "≥": r"$\ge$", "≤": r"$\le$", "≠": r"$\ne$", "‖": r"$\|$",
    "√": r"$\surd$", "’": "'", "²": "$^2$", "³": "$^3$", "⁴": "$^4$",
    "ᵀ": r"$^\top$", "⊗": r"$\otimes$", "≫": r"$\gg$", "½": "$1/2$",
    "¼": "$1/4$", "°": r"$^\circ$",
})  # fmt: skip
"""What LaTeX reads for a character; ✗ is a word, since × stands for a product."""

MARKDOWN = str.maketrans({c: f"\\{c}" for c in "\\`*<|"})
"""What a cell of a Markdown table reads for a character."""


def spell(words: str, encoding: str) -> str:
    """Return the words with `SPELLED` for every character that an encoding lacks, or "?".

    >>> spell("δ × 3", "ascii"), spell("δ × 3", "latin-1")
    ('delta x 3', 'delta × 3')

    """
    return "".join(c if _encodes(c, encoding) else SPELLED.get(c, "?") for c in words)


def width_of(words: str) -> int:
    """Return how many columns of a terminal the words take.

    >>> width_of("norm"), width_of("정규화")
    (4, 6)

    """
    return sum(1 + (east_asian_width(c) in "WF") for c in words if not combining(c))


def _encodes(character: str, encoding: str) -> bool:
    try:
        character.encode(encoding)
    except UnicodeEncodeError:
        return False
    return True
