"""The page Your network for a whole network: the measured table, its cells, and a user's own."""

import json
import shutil

import pytest

import normgeo
from normgeo.base.numbers import number as plain
from normgeo.datasets import opened
from normgeo.measured.changes import CHANGES
from normgeo.measured.saved.examples import EXAMPLES
from normgeo.recordings.example import EXAMPLE
from normgeo.ui.your_network import network
from normgeo.ui.your_network.place_drawings import drawing

TABLE = "network_table"


def rows(page):
    return page.table(TABLE)["rows"]


def test_each_table_that_ships_shows_its_marks_as_they_were_measured(shown, subtests):
    for key, example in EXAMPLES.items():
        with subtests.test(key=key):
            page = shown("your_network", subject="network", network=key)
            assert page.figures == ["measured_network"]
            assert str(example.story) in page.words
            table = normgeo.read_measured(example.path)
            weights = [name for name, role in table.roles.items() if role == "matrix"]
            assert [row["title"].split(",")[0] for row in rows(page)] == weights
            for name, row in zip(weights, rows(page), strict=True):
                signs = [cell and cell["faces"][0]["symbol"] for cell in row["cells"]]
                verdicts = table.tensors[name].verdicts.values()
                assert signs == [verdict and verdict.sign for verdict in verdicts]
                assert row["drawing"] == drawing(table.place(name))


def test_blocks_of_pre_norm_and_post_norm_are_headed_and_drawn_differently(shown):
    pre, post = (
        rows(shown("your_network", subject="network", network=key))
        for key in ("transformer", "post_norm")
    )
    heads = [[row["over"]["state"] for row in of if row.get("over")] for of in (pre, post)]
    assert heads == [["pre_norm", "pre_norm", ""], ["post_norm", "post_norm", ""]]
    drawn = [{row["label"]: row["drawing"] for row in of} for of in (pre, post)]
    for name in ("mlp.up.weight", "mlp.down.weight", "attn.o_proj.weight"):
        assert drawn[0][name] != drawn[1][name]


def test_number_that_no_tensor_has_is_named_beside_the_one_that_is_told_of(shown):
    last = len(normgeo.read_measured(EXAMPLES["decoder"].path).tensors) - 1
    page = shown("your_network", subject="network", network="decoder", tensor="1999")
    assert f"There is no tensor 1,999: the last one is number {last}." in page.words
    page.open("your_network", subject="network", network="decoder", tensor=str(last))
    assert "There is no tensor" not in page.words


@pytest.mark.exhaustive
def test_every_cell_tells_by_how_much_its_row_moved(shown, subtests):
    table = normgeo.read_measured(EXAMPLES["decoder"].path)
    for number in (2, len(table.tensors) - 1):
        name, one = [*table.tensors.items()][number]
        for change, verdict in one.verdicts.items():
            with subtests.test(name=name, change=change):
                query = {"network": "decoder", "tensor": str(number), "change": change}
                page = shown("your_network", subject="network", **query)
                said = page.alt("measured_network")
                assert f"{name}`, {CHANGES[change]}: {verdict.word}." in said
                if verdict.sign == "✗":
                    assert f"move by {plain(100 * verdict.moved, 2)} %" in said
                pressed = [
                    cell["cell"] for row in rows(page) for cell in row["cells"] if cell["selected"]
                ]
                assert pressed == [f"{number}.{change}"]


def test_vectors_are_shown_when_asked_for_and_blocks_stay(shown):
    page = shown("your_network", subject="network", network="transformer")
    weights = len(rows(page))
    page.app.toggle(key="network_vectors").set_value(True).run()
    table = normgeo.read_measured(EXAMPLES["transformer"].path)
    assert weights < len(rows(page)) == len(table.tensors)
    dead = next(row for row in rows(page) if "k_proj.bias" in row["title"])
    assert dead["cells"] == [None] * len(CHANGES)
    assert dead["drawing"]["title"] == "norm: unused" or "unused" in dead["drawing"]["title"]


def test_weight_decay_has_the_groups_of_the_table(shown):
    page = shown("your_network", subject="network", network="resnet_18", tab="weight_decay")
    (drawn,) = page.app.dataframe
    groups = normgeo.read_measured(EXAMPLES["resnet_18"].path).groups()
    assert list(drawn.value["group"]) == [group.key for group in groups.groups]


def test_table_of_ones_own_is_shown_and_left(shown):
    page = shown("your_network", subject="network", tab="table")
    content = EXAMPLES["post_norm"].path.read_bytes()
    page.app.file_uploader(key="own_network").set_value(
        ("mine.json", content, "application/json")
    ).run()
    assert "`mine.json`" in page.words
    assert {row["over"]["state"] for row in rows(page) if row.get("over")} == {"post_norm", ""}
    page.app.button(key="network_other").click().run()
    assert {row["over"]["state"] for row in rows(page) if row.get("over")} == {"pre_norm", ""}


@pytest.mark.parametrize("content", [b"", b"{}", b'{"normgeo": "measured table 1"}'])
def test_file_that_is_no_table_is_told_on_the_page(shown, content):
    page = shown("your_network", subject="network", tab="table")
    page.app.file_uploader(key="own_network").set_value(("mine.json", content, "text/json")).run()
    assert page.figures == []
    said = page.words.splitlines()[-1]
    assert said.startswith("A measured table is a .json file that")
    assert "; `mine.json` is none (" in said


def test_table_that_was_opened_is_seen_first(shown, monkeypatch):
    monkeypatch.setenv(opened.PASSED, "")
    opened.pass_on({"network": [EXAMPLES["resnet_18"].path]})
    page = shown("home")
    assert page.query["subject"] == "network"
    assert "`resnet_18.json`" in page.words


def test_table_in_part_shows_what_there_is(shown, tmp_path, monkeypatch):
    told = json.loads(EXAMPLES["decoder"].path.read_text("utf-8"))
    told |= {"tensors": told["tensors"][:2], "roles": {}, "trades": [], "complete": False}
    (tmp_path / "part.json").write_text(json.dumps(told), "utf-8")
    monkeypatch.setenv(opened.PASSED, "")
    opened.pass_on({"network": [tmp_path / "part.json"]})
    page = shown("your_network", subject="network")
    assert len(rows(page)) == 2
    assert "Measured in part: 2 of 25 tensors" in page.words
    told |= {"tensors": []}
    (tmp_path / "part.json").write_text(json.dumps(told), "utf-8")
    opened.pass_on({"network": [tmp_path / "part.json"]})
    page = shown("your_network", subject="network")
    assert "Nothing is measured yet" in page.alt("measured_network")


def test_recording_that_was_opened_is_shown_as_far_as_it_has_grown(shown, tmp_path, monkeypatch):
    whole, path = EXAMPLE.path.read_bytes(), tmp_path / "live.run"
    path.write_bytes(whole[: len(whole) // 2])
    monkeypatch.setenv(opened.PASSED, "")
    opened.pass_on({"training": [path]})
    page = shown("your_network", tab="training")

    def last():
        return max(page.figure("training_run")["layout"]["xaxis"]["range"])

    half = last()
    shutil.copyfile(EXAMPLE.path, path)
    page.app.run()
    assert last() > 1.5 * half


def test_long_tables_tell_how_many_rows_there_are_more(shown, monkeypatch):
    monkeypatch.setattr(network, "SHOWN", 3)
    page = shown("your_network", subject="network")
    assert len(rows(page)) == 3
    assert "The first 3 of 15 are here" in page.words
