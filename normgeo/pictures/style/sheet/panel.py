"""What stands in the rows of a sheet: pairs of axes with their words."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from math import inf
from typing import NamedTuple

from normgeo.pictures.style.annotations import halo, in_lines, note, tallest, width
from normgeo.pictures.style.sheet.bands import EDGE, LINE, Band, Form, Layout, Pair
from normgeo.pictures.style.sheet.labels import LABEL, TICK, axis_labels, fitting, own_labels, shown
from normgeo.pictures.style.template import RIGHT_MARGIN, SIZE, SMALL, THEMES

SLANT, SHARE = 60, 1.1  # degrees of labels that have no room, and what of their length is down
BAR = 56  # pixels of a bar of colors, with its numbers
ASIDE = 0.56  # of the width of a panel with words at its right, for these
WIDEST = 0.4  # of a figure's width, for the labels of an axis: longer ones stand in the panel
OTHER_FONT = 1.15  # of the width of labels, where a file is opened without the pages' font
LOWEST, LEAST = 45, 0.4  # pixels of a panel that a screen makes low, and of its usual height

REFERENCES = "xref", "yref"
ABOVE, BELOW = ("paper", 1, "bottom"), ("paper", 0, "top")  # notes over and under their panel


class Panel(NamedTuple):
    """A pair of axes.

    Attributes:
        x, y: the properties of its axes. head: sentences above it.
        notes, shapes: in it; their references are its own: "paper", "x", "y" and the like. What
            makes notes for a width and a height may stand for them.
        high: pixels, on a wide screen and on a phone. share: of the width of its row.
        left: pixels between it and what is at its left.
        widest: the longest label at its left, where plotly makes the labels, or of others in its
            column.
        bars: the coloraxes whose bar of colors stands at its right, one of them at a time, but not
            on a phone.
        over: bands above it.
        aside: bands at its right, on a phone above it. frame: the color of one around both, or in a
            hall around it alone.
        narrowest: pixels of its width at least, where others give way.
        lowest: the share of its height that is enough where a screen is low.
        on_slide: whether a slide and an embedded figure show it, which have one thing.

    """

    x: Layout
    y: Layout
    head: Sequence[str] = ()
    notes: Sequence[Layout] | Callable[[float, float], Sequence[Layout]] = ()
    shapes: Sequence[Layout] = ()
    high: tuple[int, int] = (250, 230)
    share: float = 1.0
    left: int = 0
    bars: Sequence[str] = ()
    over: Sequence[Band] = ()
    aside: Sequence[Band | Pair] = ()
    frame: str = ""
    widest: str = ""
    narrowest: int = 0
    lowest: float = LEAST
    on_slide: bool = True

    def beside(self, first: bool, form: Form) -> float:
        """Return the pixels for what stands at its left."""
        labels = [] if self._named_inside(form) else axis_labels(self.y, self.widest)
        words = str(self.y.get("title") or "") if self.y.get("visible", True) else ""
        title = (LINE * SIZE * (words.count("<br>") + 1) + EDGE) * bool(words)
        tick = TICK if labels or title else 0
        return (
            self.left * (not first)
            + tick
            + OTHER_FONT * max((width(label, SMALL) for label in labels), default=0)
            + title
        )

    def inner(self, wide: float, form: Form) -> float:
        """Return the width of its axes in a width."""
        return (wide - self.bar(form)) * (1 - ASIDE * bool(self.aside and not form.narrow))

    def bar(self, form: Form) -> int:
        """Return the pixels of its bar of colors."""
        return BAR * bool(self.bars and not form.narrow)

    def above(self, wide: float, form: Form) -> float:
        """Return the pixels for the words over it."""
        inner = self.inner(wide, form)
        over = [str(one["text"]).split("<br>") for one in self._at(ABOVE, inner)]
        head = self._head(self._over(wide, form))
        # Heads of more and of fewer lines begin at the same height.
        down = max(_type(lines) * (len(lines) + 0.15) for lines in [head, *over])
        words = LINE * down + self._stacked(wide, form)
        words += self._lift(form) * bool(words)
        # Else the upper half of a label with an exponent.
        return words + EDGE * (1.0 if words or self.y.get("type") != "log" else 1.5)

    def height(self, wide: float, form: Form) -> float:
        """Return the pixels of its axes, where a screen leaves them."""
        if form.narrow or self._named_inside(form):
            return self.high[1]
        return max(self.high[0], self._beside_it(wide, form))

    def least(self, wide: float, form: Form) -> float:
        """Return the pixels of its axes at least."""
        return max(min(LOWEST, self.lowest * self.high[0]), self._beside_it(wide, form))

    def below(self, wide: float, form: Form) -> float:
        """Return the pixels for what stands under it."""
        inner = self.inner(wide, form)
        drawn = self.x | self.across(inner, form)
        labels = axis_labels(drawn)
        down = LINE * SMALL * max((label.count("<br>") + 1 for label in labels), default=0)
        if drawn.get("tickangle"):
            down = EDGE + SHARE * max(width(label, SMALL) for label in labels)
        title = drawn["title"]["text"] if self.x.get("title") else ""
        titles = LINE * SIZE * (title.count("<br>") + 1) + EDGE / 2 if title else 0
        tick = 0 if drawn.get("visible") is False or drawn.get("ticks") == "" else TICK
        under = [
            LINE * one["font"].get("size", SIZE) * (one["text"].count("<br>") + 1)
            - one.get("yshift", 0)
            for one in self._at(BELOW, inner)
        ]
        return float(max(tick + down + titles, *under, 0))

    def across(self, wide: float, form: Form, high: float = inf) -> Layout:
        """Return what of the axis below it depends on its size: words that go on in a new line."""
        drawn: Layout = {key: self.x[key] for key in ("showticklabels", "visible") if key in self.x}
        if self.x.get("title"):
            room = wide + min(2 * LABEL, self.beside(True, form)) - 2 * EDGE
            drawn["title"] = {"text": _broken(self.x["title"], SIZE, room)}
        if "nticks" in self.x:
            drawn["nticks"] = max(2, min(self.x["nticks"], int(wide / LABEL)))
        if self.x.get("constrain") == "domain":  # a square
            wide = min(wide, high)
        labels = self.x.get("ticktext", ())
        if any(map(str.isalpha, "".join(labels))):  # no name is left out
            each = wide / shown(self.x)
            broken = [_broken(label, SMALL, each) for label in labels]
            upright = max(width(label, SMALL) for label in broken) <= each + EDGE
            drawn["ticktext"] = broken if upright else [*labels]
            drawn["tickangle"] = 0 if upright else SLANT
            return drawn
        return drawn | fitting(self.x, wide, lambda label: width(label, SMALL) + EDGE)

    def up(self, high: float, form: Form) -> Layout:
        """Return what of the axis at its left depends on its height: labels, where they are close.

        A title that is longer than the axis is smaller.
        """
        if self._named_inside(form):
            return {"showticklabels": False}
        drawn: Layout = {key: self.y[key] for key in ("showticklabels", "visible") if key in self.y}
        if title := self.y.get("title"):
            long = width(title, SIZE)
            size = max(SMALL, min(SIZE, int(SIZE * (high + 2 * EDGE) / long)))
            room = max(high + 4 * EDGE, long / 2) if form.high else inf
            drawn["title"] = {"text": _broken(title, size, room), "font": {"size": size}}
        return drawn | fitting(self.y, high, lambda _: 1.05 * SMALL)

    def own(self, number: int, things: Sequence[Layout]) -> list[Layout]:
        """Return notes or shapes of it whose references are to its axes, with this number."""
        return [
            thing | {key: _reference(thing.get(key, key[0]), key[0], number) for key in REFERENCES}
            for thing in things
        ]

    def words(
        self, number: int, wide: float, head: float, high: float, form: Form, theme: str
    ) -> Iterator[Layout]:
        """Yield the words above it, those in it and those at its right, with their marks.

        Those above begin at the top of the `head`, as do those of the panels beside it.
        """
        inner = self.inner(wide, form)
        place: Layout = {"xref": "paper", "yref": "paper", "x": 0, "y": 1}
        up = self._stacked(wide, form) + self._lift(form) + head - self.above(wide, form)
        shift = {"xshift": -form.edge} if form.edge else {}
        if self.head:
            lines = self._head(self._over(wide, form))
            title = note(lines, yshift=5 + up, font={"size": _type(lines)}, **shift)
            yield from self.own(number, [title])
        yield from self.own(number, [*self._notes(inner, high), *self._names(form, theme)])
        if self.frame:
            yield from self.own(number, [self._around(wide, high, form)])
        over = [*self.over, *(self.aside if form.narrow else ())]
        above, room = place | shift | {"yshift": up}, self._over(wide, form)
        yield from self._bands(number, over, above, room, form, theme)
        if not form.narrow:
            right = place | {"x": 1, "xshift": 2 * EDGE}
            room = wide - inner - 2 * EDGE
            yield from self._bands(number, self.aside, right, room, form, theme)

    def _bands(
        self,
        number: int,
        bands: Sequence[Band | Pair],
        place: Layout,
        room: float,
        form: Form,
        theme: str,
    ) -> Iterator[Layout]:
        for band in bands:
            yield from self.own(number, list(band.drawn(room, form, theme, **place)))
            place = place | {"yshift": place.get("yshift", 0) - band.height(room, form)}

    def _stacked(self, wide: float, form: Form) -> float:
        """The height of the bands over it."""
        over = [*self.over, *(self.aside if form.narrow else ())]
        return sum(band.height(self._over(wide, form), form) for band in over)

    def _lift(self, form: Form) -> float:
        """The pixels that words over it keep from labels at its left, and from it."""
        return EDGE * bool(form.edge) + EDGE * (1.5 if form.high else 0.5) * bool(self.over)

    def _over(self, wide: float, form: Form) -> float:
        """The width of what stands over it."""
        return self.inner(wide, form) + self.bar(form) + form.edge

    def _beside_it(self, wide: float, form: Form) -> float:
        """The height of what stands at its right."""
        if form.narrow:
            return 0.0
        room = wide - self.inner(wide, form) - 2 * EDGE
        # The last line may go on into what is free below.
        return sum(band.height(room, form) for band in self.aside) - EDGE * bool(self.aside)

    def _around(self, wide: float, high: float, form: Form) -> Layout:
        """A frame around it and what stands at its right, on a phone above it.

        Where the screen decides its height, words may go on below it: a frame is around it alone.
        """
        inner, left = self.inner(wide, form), self.beside(True, form)
        alone = bool(form.high)
        return {
            "type": "rect",
            "line": {"color": self.frame, "width": 2},
            "xref": "paper",
            "yref": "paper",
            "x0": -left / inner,
            "x1": 1 if alone else wide / inner,
            "y0": 0 if alone else -0.9 * EDGE / high,
            "y1": 1 if alone else 1.05 + (self._stacked(wide, form) + EDGE) / high * form.narrow,
        }

    def _named_inside(self, form: Form) -> bool:
        """Whether the labels at its left are too long for the figure."""
        return (
            max((width(one, SMALL) for one in own_labels(self.y)), default=0) > WIDEST * form.width
        )

    def _names(self, form: Form, theme: str) -> Iterator[Layout]:
        """The labels that would be at its left, each over its line."""
        if self._named_inside(form):
            font = {"size": SMALL, "shadow": halo(THEMES[theme].paper)}
            for value, label in zip(self.y["tickvals"], self.y["ticktext"], strict=True):
                yield note(label, 0, value, yref="y", yshift=6, font=font)

    def _notes(self, inner: float, high: float) -> list[Layout]:
        """Notes with lines as long as there is room: from its place a note has it up to the end, or
        to both ends.
        """
        made = self.notes(inner, high) if callable(self.notes) else self.notes
        return [self._inside(_fitted(one, inner), inner) for one in made]

    def _inside(self, one: Layout, wide: float) -> Layout:
        """A note at a number of the axis below, moved to the left where the figure ends."""
        if one.get("xref") != "x" or "range" not in self.x:
            return one
        low, high = map(float, self.x["range"])
        half = OTHER_FONT * width(one["text"], one["font"].get("size", SIZE)) / 2
        shift = one.get("xshift", 0)
        middle = wide * (one["x"] - low) / ((high - low) or 1.0) + shift
        middle += {"left": half, "right": -half}.get(one.get("xanchor", ""), 0.0)
        beyond = max(0.0, middle + half - wide - RIGHT_MARGIN)
        return one | {"xshift": shift - beyond} if beyond else one

    def _at(self, where: tuple[str, int, str], inner: float) -> list[Layout]:
        keys = "yref", "y", "yanchor"
        return [
            one for one in self._notes(inner, self.high[0]) if tuple(map(one.get, keys)) == where
        ]

    def _head(self, wide: float) -> list[str]:
        return [line for words in self.head for line in in_lines(str(words), SIZE, wide + EDGE)]


def _fitted(one: Layout, wide: float) -> Layout:
    x, within = one["x"], one.get("xref", "x") not in ("x", "y")
    room = {"left": 1 - x, "right": x, "center": 2 * min(x, 1 - x)}.get(one.get("xanchor", ""))
    if not (within and room) or one.get("textangle"):
        return one
    return one | {"text": _broken(one["text"], one["font"].get("size", SIZE), room * wide)}


def _type(lines: Sequence[str]) -> float:
    """The type of words over a panel: plotly keeps lines apart by it, also where parts differ."""
    return max((tallest(line, SIZE) for line in lines), default=0)


def _broken(words: str, size: int, room: float) -> str:
    return "<br>".join(in_lines(str(words), size, room))


def _reference(own: str, letter: str, number: int) -> str:
    """The reference to the axis of this number, or to its length, of a panel's own to either."""
    length = " domain" if own == "paper" or own.endswith("domain") else ""
    return f"{axis_name(letter, number)}{length}"


def axis_name(letter: str, number: int) -> str:
    """The name of an axis, of which the first has no number."""
    return letter if number == 1 else f"{letter}{number}"


def on_panel(number: int) -> dict[str, str]:
    """The axes of a panel, as a trace names them; the first has the number 1."""
    return {f"{letter}axis": axis_name(letter, number) for letter in "xy"}
