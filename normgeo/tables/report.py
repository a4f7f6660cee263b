"""The audit as HTML: a list for the application, and a self-contained page."""

from __future__ import annotations

import re
from collections.abc import Sequence
from html import escape

from jinja2 import Environment, PackageLoader

from normgeo import __version__
from normgeo.base.text import text
from normgeo.claims import CLAIMS, PAPER_SAYS, SIGNS, Audited, Claim
from normgeo.tables import marks
from normgeo.tables.audit import (
    DIGITS,
    EXAMPLES_TOLD,
    KEY,
    WORDS,
    by_kind,
    by_quantity,
    conditional,
    headline,
    inexact,
    name,
    others,
    remarks,
    repaired,
    shown,
    spread,
    summary,
)

TITLE = text("The paper, checked")
PAPER = "Ba, Kiros and Hinton, Layer Normalization, arXiv:1607.06450."
STATES = {"✓": "yes", "≈": "limit", "✗": "no", "?": "limit"}


def page(audited: Sequence[Audited], home: str = "", *, unfolded: bool = False) -> str:
    """Return the audit as one self-contained HTML file: the inexact places first.

    Args:
        audited: all or some claims. home: the address of the application, for links to its pages.
        unfolded: whether all numbers show at once, as on paper.

    """
    origin = text(
        "{paper} Every verdict comes from a computation, which {command} of normgeo {version} "
        "repeats.",
        paper=escape(PAPER),
        command="<code>python -m normgeo audit</code>",
        version=escape(__version__),
    )
    return _TEMPLATES.get_template("page.html").render(
        summary=summary(audited),
        origin=f"{origin} {EXAMPLES_TOLD}",
        unfolded=unfolded,
        **_content(audited, home or None, audited),
    )


def listed(audited: Sequence[Audited], home: str | None = "", of: Sequence[Audited] = ()) -> str:
    """Return claims as an HTML list, kind by kind, each with its details to unfold.

    Args:
        audited: the claims of the list.
        home: the first part of a page's address in a link; None for no links.
        of: those that the headline counts; without any there is none.

    """
    return _TEMPLATES.get_template("claims.html").render(**_content(audited, home, of))


def _content(
    audited: Sequence[Audited], home: str | None, of: Sequence[Audited]
) -> dict[str, object]:
    wrong = inexact(audited)
    parts = [*by_kind([one for one in audited if one not in wrong])]
    if wrong and parts and parts[0][1][0].claim.kind == PAPER_SAYS:
        parts[0] = str(text("The other statements of the paper")), parts[0][1]
    return {
        "title": TITLE,
        "parts": [*([("", wrong)] if wrong else []), *parts],
        "headline": _headline(audited, of).removesuffix(".") if of else "",
        "totals": KEY if of else "",
        "others": others(of) if of else "",
        "home": home,
    }


def _headline(audited: Sequence[Audited], of: Sequence[Audited]) -> str:
    """Return what stands over a list: the answer, as far as there is one, or that it is a part."""
    if all(one in audited for one in of if one.claim.kind == PAPER_SAYS):
        whole = len(of) == len(CLAIMS)
        return headline(of) if whole else text("So far: {found}", found=headline(of))
    return text("{n} of {all} statements are listed.", n=len(audited), all=len(of))


def _address(claim: Claim, home: str) -> str:
    """Return the target of a claim's link; the first page has no name in its address."""
    page, _ = claim.destination
    return (home or "./") if page == "home" else home + claim.page


def _written(words: str) -> str:
    """Return a sentence as HTML: an index as a subscript, brackets and comparisons on one line."""
    kept = r"\[[^]]*\]| [=<>≤≥≪] "
    unbroken = re.sub(kept, lambda part: part[0].replace(" ", "\N{NO-BREAK SPACE}"), text(words))
    return re.sub(r"_(\w+)", r"<sub>\1</sub>", escape(unbroken))


def _page(claim: Claim) -> str:
    page, _ = claim.destination
    return text(page.replace("_", " ").capitalize())


def _mark(sign: str) -> str:
    """Return the sign as a drawing, if there is one."""
    return marks.drawn(sign) if sign in marks.MARKS else escape(sign)


def _is_rounded(value: float | bool) -> bool:
    """Return whether the shown value is rounded."""
    return value != float(f"{value:.{DIGITS}g}") and value == value  # noqa: PLR0124 - not NaN


_TEMPLATES = Environment(loader=PackageLoader("normgeo.tables"), autoescape=True)
_TEMPLATES.globals.update(
    SIGNS=SIGNS,
    STATES=STATES,
    WORDS=WORDS,
    address=_address,
    by_quantity=by_quantity,
    conditional=conditional,
    is_rounded=_is_rounded,
    mark=_mark,
    name=name,
    page=_page,
    remarks=remarks,
    repaired=repaired,
    shown=shown,
    spread=spread,
    text=text,
    written=_written,
)

STYLE = _TEMPLATES.get_template("report.css").render()
"""The style of the list, as CSS."""
