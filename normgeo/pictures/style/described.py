"""Static files with a title and words for people who cannot see them."""

from __future__ import annotations

import re
from html import escape

from normgeo.pictures.style.png import chunk


def described(content: bytes, format: str, title: str, alt: str) -> bytes:
    """Return a drawn file with its title and description in the place that its format has.

    SVG: `<title>` and `<desc>`, which name the picture. PNG: the texts "Title" and "Description".
    PDF: the document's title and subject; Chromium draws no structure that an alternate text
    could belong to.
    """
    return _DESCRIBE[format](content, title, alt)


def _svg(content: bytes, title: str, alt: str) -> bytes:
    """Name the outermost element (SVG 2, 5.7; SVG accessibility API mappings, 8.1)."""
    words = f'<title id="title">{escape(title)}</title><desc id="desc">{escape(alt)}</desc>'
    head, tag, rest = content.partition(b"<svg")
    attributes, end, inside = rest.partition(b">")
    named = b' role="img" aria-labelledby="title" aria-describedby="desc"'
    return head + tag + named + attributes + end + words.encode() + inside


def _png(content: bytes, title: str, alt: str) -> bytes:
    """Put two international texts behind the header (PNG, third edition, 11.3.3.4)."""
    header = 8 + 25  # signature, and IHDR with its length, type and checksum
    texts = (chunk(b"iTXt", _text(*words)) for words in (("Title", title), ("Description", alt)))
    return content[:header] + b"".join(texts) + content[header:]


def _text(keyword: str, words: str) -> bytes:
    # Not compressed; no language tag, no translated keyword.
    return keyword.encode() + b"\0\0\0\0\0" + words.encode()


def _pdf(content: bytes, title: str, alt: str) -> bytes:
    """Replace the document's information by an incremental update (ISO 32000, 7.5.6, 14.3.3)."""
    trailer = re.search(
        rb"trailer\s*<<(?=.*?/Size (?P<size>\d+))(?=.*?/Root (?P<root>\d+ \d+ R))"
        rb"(?=.*?/Info (?P<info>\d+) 0 R).*?>>\s*startxref\s+(?P<before>\d+)\s+%%EOF\s*$",
        content,
        re.S,
    )
    if trailer is None:  # of a browser that writes other PDF
        return content
    found = {name: value.decode() for name, value in trailer.groupdict().items()}
    place = len(content)
    words = f"<< /Title {_string(title)} /Subject {_string(alt)} /Creator (normgeo) >>"
    update = f"{found['info']} 0 obj\n{words}\nendobj\n"
    table = place + len(update)
    update += f"xref\n{found['info']} 1\n{place:010d} 00000 n \n"
    update += f"trailer\n<< /Size {found['size']} /Root {found['root']} /Info {found['info']} 0 R "
    update += f"/Prev {found['before']} >>\nstartxref\n{table}\n%%EOF\n"
    return content + update.encode("ascii")


def _string(words: str) -> str:
    return f"<FEFF{words.encode('utf-16-be').hex().upper()}>"


_DESCRIBE = {"svg": _svg, "png": _png, "pdf": _pdf}
