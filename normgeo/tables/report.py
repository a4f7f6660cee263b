"""The audit as HTML, a table for the application or a page of its own, and as PDF."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Sequence
from html import escape
from math import isfinite
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Lock

from normgeo import __version__
from normgeo.base.text import text
from normgeo.claims import SIGNS, Audited, Claim, Measured
from normgeo.pictures.style.browser import find_browser
from normgeo.pictures.style.export import BrowserMissing
from normgeo.tables.audit import WORDS, by_part, by_quantity, name, remarks, shown, summary

TITLE = "The paper, checked"
PAPER = "Ba, Kiros and Hinton, Layer Normalization, arXiv:1607.06450."
STATES = {"✓": "yes", "≈": "limit", "✗": "no"}

# Every browser takes about 200 MB.
_TURN = Lock()
_PATIENCE = 60  # seconds for a browser to print

STYLE = """
table { width: 100%; border-collapse: collapse; line-height: 1.35;
  color: var(--st-text-color, light-dark(#101418, #e8eaed)); }
caption { position: absolute; width: 1px; height: 1px; overflow: hidden;
  clip-path: inset(50%); white-space: nowrap; }
th, td { padding: 0.375rem 0.75rem 0.375rem 0; text-align: left; vertical-align: top;
  border-bottom: 1px solid var(--st-border-color, light-dark(#d5d9dd, #3a4148)); }
thead th { border-bottom-color: currentcolor; }
.part th { padding-top: 1rem; font-weight: 600; border-bottom-color: currentcolor; }
.verdict { width: 8.5rem; font-weight: 600; white-space: nowrap; }
.sign { display: inline-block; width: 1.25rem; font-size: 1.125rem; line-height: 1; }
.statement { width: 40%; font-weight: 400; }
.note, .source, .measured { font-size: 0.875rem; }
.note { margin: 0.25rem 0 0; }
.statement .note, .source, .quantity {
  color: light-dark(#5a636e, #a4adb8); }
.alarm { font-weight: 600; }
.measured { font-variant-numeric: tabular-nums; }
.measured p { margin: 0; }
.measured b { font-weight: 600; }
.source { width: 9.5rem; }
.value { display: inline-block; }
sup { line-height: 0; }
a { color: light-dark(#00629a, #7cc6f2); white-space: nowrap; }
a:focus-visible { outline: 2px solid currentcolor; outline-offset: 2px; }
.yes { color: light-dark(#006b4c, #3ecf9f); }
.limit { color: light-dark(#00629a, #7cc6f2); }
.no { color: light-dark(#b04000, #ff9a5c); }
@media screen and (width < 760px) {
  table, thead, tbody, tr, th, td { display: block; }
  .verdict, .statement, .source { width: auto; }
  thead { position: absolute; width: 1px; height: 1px; overflow: hidden;
    clip-path: inset(50%); }
  th, td { padding: 0.125rem 0; border: 0; overflow-wrap: break-word; }
  tbody tr { padding: 0.5rem 0;
    border-bottom: 1px solid var(--st-border-color, light-dark(#d5d9dd, #3a4148)); }
}
"""

PAGE = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<style>
:root {{ color-scheme: light dark; }}
body {{ margin: 1.5rem auto; padding: 0 1rem; max-width: 76rem;
  font-family: "Source Sans 3", Helvetica, Arial, "DejaVu Sans", sans-serif;
  color: light-dark(#101418, #e8eaed); background: light-dark(#fff, #15181b); }}
h1 {{ font-size: 1.75rem; margin: 0; }}
@page {{ size: A4 landscape; margin: 12mm; }}
@media print {{ :root {{ font-size: 9pt; }} body {{ margin: 0; padding: 0; max-width: none; }}
  tr {{ break-inside: avoid; }} .part {{ break-after: avoid; }} }}
{style}</style>
</head>
<body>
<main>
<h1>{title}</h1>
<p>{summary}</p>
<p class="note">{origin}</p>
{table}
</main>
</body>
</html>
"""


def page(audited: Sequence[Audited], home: str = "") -> str:
    """Return the audit as one HTML file that needs no other.

    Args:
        audited: all or some claims. home: the address of the application, where pages are linked.

    """
    return PAGE.format(
        title=escape(text(TITLE)),
        style=STYLE,
        summary=escape(summary(audited)),
        origin=text(
            "{paper} Every verdict comes from a computation, which {command} of normgeo {version} "
            "repeats.",
            paper=escape(PAPER),
            command="<code>python -m normgeo audit</code>",
            version=escape(__version__),
        ),
        table=table(audited, home if home else None),
    )


def table(audited: Sequence[Audited], home: str | None = "") -> str:
    """Return the audit as an HTML table, part by part.

    Args:
        audited: all or some claims.
        home: what comes before the address of a page in a link; None for no links.

    """
    columns = [
        "Verdict",
        "Statement",
        "Measured",
        "Source",
        *(["Page"] if home is not None else []),
    ]
    heads = "".join(_cell("th", "columnheader", text(c), ' scope="col"') for c in columns)
    parts = (
        '<tbody role="rowgroup">'
        + _row(
            f'<th scope="rowgroup" role="rowheader" colspan="{len(columns)}">{escape(part)}</th>',
            "part",
        )
        + "".join(_row(_cells(one, home)) for one in members)
        + "</tbody>"
        for part, members in by_part(audited)
    )
    # Roles, as a narrow screen lays the table out in blocks, which would end being one.
    return (
        f'<table role="table"><caption>{escape(text(TITLE))}</caption>'
        f'<thead role="rowgroup">{_row(heads)}</thead>{"".join(parts)}</table>'
    )


def _row(cells: str, kind: str = "") -> str:
    return f'<tr role="row"{f" class={kind}" if kind else ""}>{cells}</tr>'


def _cell(tag: str, role: str, words: str, more: str = "") -> str:
    return f'<{tag} role="{role}"{more}>{escape(words)}</{tag}>'


def _cells(one: Audited, home: str | None) -> str:
    claim, verdict = one.claim, one.finding.verdict
    sign = SIGNS[verdict]
    notes = "".join(f'<p class="note">{escape(sentence)}</p>' for sentence in remarks(one))
    measured = "".join(map(_quantity, by_quantity(one.finding.measured)))
    cells = (
        f'<td role="cell" class="verdict {STATES[sign]}">'
        f'<span class="sign" aria-hidden="true">{sign}</span>{escape(text(WORDS[verdict]))}</td>'
        f'<th role="rowheader" scope="row" class="statement">{escape(text(claim.statement))}'
        f"{notes}</th>"
        f'<td role="cell" class="measured">{measured}</td>'
        f'<td role="cell" class="source">{escape(text(claim.source))}</td>'
    )
    return cells if home is None else f'{cells}<td role="cell">{_link(claim, home)}</td>'


def _link(claim: Claim, home: str) -> str:
    if not claim.page:
        return ""
    page, _ = claim.destination
    words = escape(text(page.replace("_", " ").capitalize()))
    about = escape(text("{words}: {statement}", words=words, statement=claim.statement))
    # The first page has no name in its address.
    address = escape((home or "./") if page == "home" else home + claim.page)
    return f'<a href="{address}" aria-label="{about}" data-key="{claim.key}">{words}</a>'


def _quantity(found: tuple[str, list[Measured]]) -> str:
    quantity, values = found
    # A name and its number are not parted by a line's end where they fit in one.
    words = [escape(name(m)) + _number(m.value) for m in values]
    ends = [","] * (len(words) - 1) + [""]
    pairs = (f'<span class="value">{w}{end}</span>' for w, end in zip(words, ends, strict=True))
    return f'<p><span class="quantity">{escape(quantity)}:</span> {" ".join(pairs)}</p>'


def _number(value: float | bool) -> str:
    """Return a rounded number, powers of ten as such; all digits on hover."""
    words = shown(value)
    mantissa, e, exponent = words.partition("e")
    power = f"·10<sup>{int(exponent)}</sup>" if e and re.fullmatch(r"[+-]\d+", exponent) else ""
    rounded = (f"{mantissa}{power}" if power else words).replace("-", "−")
    exact = isinstance(value, float) and isfinite(value) and repr(value).removesuffix(".0") != words
    return f'<b title="{value!r}">{rounded}</b>' if exact else f"<b>{rounded}</b>"


def to_pdf(html: str) -> bytes:
    """Return a page as PDF, printed by a browser.

    Raises:
        BrowserMissing: no browser, or one that does not print.
        ValueError: `BROWSER_PATH` names no executable file.

    """
    browser = find_browser()
    if browser is None:
        raise BrowserMissing(
            text(
                "PDF is printed by a browser, and none was found: install Chromium or Google "
                "Chrome, set BROWSER_PATH to the one you have, or choose HTML."
            )
        )
    with _TURN, TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        source, target = Path(folder, "report.html"), Path(folder, "report.pdf")
        source.write_text(html, "utf-8")
        command = [
            browser,
            "--headless",
            "--disable-gpu",
            "--no-sandbox",
            "--no-first-run",
            "--no-pdf-header-footer",
            f"--user-data-dir={folder}/profile",
            f"--print-to-pdf={target}",
            source.as_uri(),
        ]
        try:
            subprocess.run(command, check=True, capture_output=True, timeout=_PATIENCE)
            return target.read_bytes()
        except (OSError, subprocess.SubprocessError) as error:
            raise BrowserMissing(
                text(
                    "The browser {path} does not print. Set BROWSER_PATH to another one, or choose "
                    "HTML.",
                    path=browser,
                )
            ) from error
