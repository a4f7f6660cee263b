"""Every line of docs/measuring.md runs, and prints what the page says."""

import re
from pathlib import Path

PAGE = (Path(__file__).parents[2] / "docs" / "measuring.md").read_text("utf-8")


def test_every_block_runs_in_order(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    names = {}
    for lines in re.findall(r"```python\n(.*?)```", PAGE, re.S):
        exec(lines, names)
    printed = capsys.readouterr().out
    for said in (
        "all of W, all of b × δ",
        "g, s × δ, columns of V ÷ δ",
        "s + c, and v take it off",
        "Scale-invariant weights",
        "forward passes and",
    ):
        assert said in " ".join(printed.split())
    assert names["table"].complete
    assert not names["part"].complete


def test_every_sign_is_explained():
    from normgeo.measured.judging import WORDS

    for sign in WORDS:
        assert f"| {sign}" in PAGE
