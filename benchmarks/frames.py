"""Each figure with a slider in Chromium: from a move of the slider to the frame on the screen.

The slider moves over its whole range and back. The floor is plotly itself on the same page: lines
without text, in the same number of panels.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from statistics import median, quantiles
from tempfile import TemporaryDirectory
from typing import Any

from benchmarks.pages import APP, chromium, opened, settle
from benchmarks.timing import Row
from tools.server import serving

TITLE = "Frames while a slider moves, in Chromium at 1280 × 720"
AIM = 1 / 30  # seconds per frame
FIGURES = {
    "effect": "invariance",
    "where_z_lives": "invariance?tab=where_z_lives",
    "turn": "learning_rate",
    "descent": "learning_rate",
    "axes": "batch",
    "walk": "symmetry",
    "recurrence": "recurrent?tab=time",
}
"""The page of each picture with frames."""

MEASURE = """async (name) => {
    const painted = () => new Promise(done => requestAnimationFrame(() => {
        const {port1, port2} = new MessageChannel();
        port1.onmessage = done;
        port2.postMessage(null);
    }));
    const timed = async (act) => {
        const start = performance.now();
        act();
        await painted();
        return performance.now() - start;
    };
    const plot = document.querySelector(`.st-key-figure_${name} .js-plotly-plot`);
    const player = window.framePlayers.get(plot);
    const { range, last } = player.slider;
    const every = Math.max(1, Math.round(last / 25));
    const way = [];
    for (let place = 0; place <= last; place += every) way.push(place);
    way.push(...way.slice(0, -1).reverse());
    plot.scrollIntoView();
    const times = [];
    for (const place of way) {
        times.push(await timed(() => {
            range.value = place;
            range.dispatchEvent(new Event('input'));
        }));
    }
    const {data, layout, parentElement: {clientWidth: width}} = plot;
    const panels = [...new Set(data.map(trace => trace.xaxis ?? 'x'))];
    const bare = document.createElement('div');
    Object.assign(bare.style, {position: 'fixed', top: 0, left: 0, zIndex: 1e6});
    document.body.append(bare);
    const axes = {width, height: layout.height, showlegend: false};
    panels.forEach((_, n) => {
        const [id, domain] = [n ? n + 1 : '', [n / panels.length, (n + 0.9) / panels.length]];
        axes[`xaxis${id}`] = {visible: false, domain, range: [0, 10]};
        axes[`yaxis${id}`] = {visible: false, anchor: `x${id}`, range: [0, 1]};
    });
    const lines = () => panels.map((_, n) => ({
        y: Array.from({length: 10}, Math.random),
        xaxis: `x${n ? n + 1 : ''}`,
        yaxis: `y${n ? n + 1 : ''}`,
    }));
    const floor = [];
    for (let n = 0; n < 20; n++) {
        floor.push(await timed(() => window.Plotly.react(bare, lines(), structuredClone(axes))));
    }
    return {times: times.slice(1), floor: floor.slice(1), panels: panels.length, frames: last + 1};
}"""


def rows() -> Iterator[Row]:
    with (
        TemporaryDirectory() as folder,
        serving(APP, Path(folder) / "app.log") as url,
        chromium() as browser,
    ):
        for name, path in FIGURES.items():
            with opened(browser, f"{url}/{path}") as (page, _):
                page.locator(f".st-key-figure_{name} .frames input").wait_for()
                settle(page)
                yield measured(name, page.evaluate(MEASURE, name))


def measured(name: str, found: dict[str, Any]) -> Row:
    times, floor = found["times"], median(found["floor"]) / 1e3
    typical, slow = median(times) / 1e3, quantiles(times, n=10)[-1]
    return Row(
        f"{name}, {found['frames']} frames; 90 % within {slow:.0f} ms",
        typical,
        f"plotly, {found['panels']} bare panel{'s' * (found['panels'] != 1)}",
        floor,
        f"{typical / floor:.1f} ×",
        f"≤ {1e3 * AIM:.0f} ms",
    )
