"""The way from nothing to a table in docs/frameworks.md runs as it is written there."""

import re
from pathlib import Path

import torch

import normgeo

TEXT = Path(__file__).parents[2].joinpath("docs", "frameworks.md").read_text("utf-8")


def test_way_to_a_table_and_a_recording(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    blocks = re.findall(r"```python\n(.*?)```", TEXT, re.DOTALL)
    assert len(blocks) == 4
    names = {"batches": [torch.arange(32).reshape(4, 8)] * 21}
    for block in blocks:
        exec(block, names)
    printed = capsys.readouterr().out
    assert "transformer.h.0.attn.c_attn.weight" in printed
    assert "before W its inputs are what transformer.h.0.ln_2 makes" in printed
    assert names["report"].standing.startswith("layer norm stands before W.")
    table = names["table"]
    assert table.complete
    assert "before" in table.place("transformer.h.0.attn.c_attn.weight")
    run = normgeo.read_recording("gpt2.run")
    assert [*run.steps] == [0, 10, 20]
    assert run.optimizer.key == "adamw"
