"""All layers of a checkpoint in one table: each agrees with its own report, in bounded memory."""

import tracemalloc
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from safetensors.numpy import save_file

from normgeo import layer_report, load_layer
from normgeo.base.refusal import Refusal
from normgeo.checkpoints.checkpoint import Checkpoint
from normgeo.checkpoints.loading import every_layer, gradients_of
from normgeo.tables.formats import render
from normgeo.tables.layers import COLUMNS, layer_records, layers_table

TRAINED: dict[str, Any] = {"optimizer": "momentum", "rate": 0.1, "decay": 1e-3}
BLOCKS, WIDTH = 60, 64


@pytest.fixture(scope="module")
def checkpoint(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Six hundred tensors: convolutions, MLPs and fused queries, keys and values."""
    rng = np.random.default_rng(0)
    tensors, H = {}, WIDTH
    for i in range(BLOCKS):
        of_block = {
            "ln_1.weight": np.ones(H),
            "ln_1.bias": np.zeros(H),
            "attn.in_proj_weight": rng.standard_normal((3 * H, H)),
            "ln_2.weight": np.ones(H),
            "ln_2.bias": np.zeros(H),
            "mlp.c_fc.weight": rng.standard_normal((4 * H, H)),
            "mlp.c_fc.bias": np.zeros(4 * H),
        }
        tensors[f"c.{i}.conv1.weight"] = rng.standard_normal((H, 4, 3, 3)).astype("f4")
        tensors[f"c.{i}.bn1.weight"] = np.ones(H, "f4")
        tensors[f"c.{i}.bn1.running_var"] = rng.uniform(1e-6, 1, H).astype("f4")
        tensors |= {f"h.{i}.{name}": value.astype("f4") for name, value in of_block.items()}
    tensors |= {f"ln_f.{name}": np.ones(H, "f4") for name in ("weight", "bias")}
    tensors["c.7.conv1.weight"][0, 0, 0, 0] = np.nan
    tensors["x"] = rng.standard_normal((3, 2)).astype("f4")  # of another layer
    folder = tmp_path_factory.mktemp("every")
    save_file(tensors, folder / "net.safetensors")
    weights = {k: 1e-2 * np.sign(v) for k, v in tensors.items() if v.ndim > 2}
    save_file(weights, folder / "gradients.safetensors")
    return folder / "net.safetensors"


def told(checkpoint: Path) -> list[dict[str, Any]]:
    found = Checkpoint.of(checkpoint)
    gradients = gradients_of(found, checkpoint.with_name("gradients.safetensors"))
    table = layers_table(every_layer(found, gradients=gradients, **TRAINED))
    return layer_records(table, [one.name for one in found.proposals]).records()


def test_each_row_is_what_the_report_of_its_layer_says(checkpoint: Path, tmp_path: Path) -> None:
    rows = {row["layer"]: row for row in told(checkpoint)}
    assert len(rows) == BLOCKS * 5
    assert [*rows["c.0.conv1.weight"]] == [*COLUMNS]
    gradient = checkpoint.with_name("gradients.safetensors")
    row = rows["c.3.conv1.weight"]
    layer = load_layer(checkpoint, row["layer"], gradient=gradient, roles={"x": "other"})
    report = layer_report(layer, **TRAINED)
    assert report.effective_rates is not None
    assert report.angles is not None
    assert report.frozen is not None
    assert report.balance is not None
    assert row["median_norm"] == pytest.approx(np.median(report.norms))
    assert (row["least_norm"], row["largest_norm"]) == (report.norms.min(), report.norms.max())
    assert row["effective_rate"] == np.median(report.effective_rates)
    assert row["angle"] == pytest.approx(np.degrees(np.median(report.angles)))
    assert row["frozen"] == report.frozen.mean()
    assert row["over_balance"] == pytest.approx(np.median(report.norms / report.balance.norm))
    assert (row["scaled"], row["missing"]) == ("ignored where ε is small", "")
    query = rows["h.0.attn.in_proj_weight[q]"]
    assert (query["stands"], query["scaled"]) == ("before W", "not ignored")
    assert query["effective_rate"] is None
    assert query["missing"] == "gradients, X"


def test_layer_that_cannot_be_read_is_a_row_with_the_reason(checkpoint: Path) -> None:
    (row,) = (row for row in told(checkpoint) if row["layer"] == "c.7.conv1.weight")
    assert row["missing"].startswith("'c.7.conv1.weight' in net.safetensors must hold finite num")
    assert row["median_norm"] is None
    table = layers_table(every_layer(Checkpoint.of(checkpoint)))
    assert table.notes[-1] == row["missing"]
    assert "stands" in render(table, "text")


def test_few_of_many_refusals_are_told_beneath_the_table(tmp_path: Path) -> None:
    bad = {f"{i}.weight": np.full((2, 2), np.nan) for i in range(8)}
    np.savez(tmp_path / "net.npz", good=np.eye(2), **bad)
    roles = {"good": "weight"}
    notes = layers_table(every_layer(Checkpoint.of(tmp_path / "net.npz", roles))).notes
    assert sum("must hold finite numbers" in note for note in notes) == 5
    assert notes[-1] == "3 more layers are refused, as their rows say."


def test_where_no_layer_can_be_told_the_reason_is(checkpoint: Path) -> None:
    every = every_layer(Checkpoint.of(checkpoint), rate=2.0, decay=3.0)
    with pytest.raises(Refusal, match=r"learning rate η and the weight decay λ must be below 1"):
        layers_table(every)


def test_one_layer_at_a_time_is_in_memory(checkpoint: Path) -> None:
    def peak(proposals: int) -> int:
        found = Checkpoint.of(checkpoint)
        tracemalloc.start()
        layers_table(every_layer(found, found.proposals[:proposals]))
        most = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return most

    assert peak(BLOCKS * 5) < peak(5) + 1_500_000, "a layer alone takes 130,000 bytes"
