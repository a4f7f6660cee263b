"""Lines of IAM-OnDB are read as they were written; what is missing or damaged gets a sentence."""

import numpy as np
import pytest

from normgeo.base.refusal import Refusal
from normgeo.experiments.iam import HELD_OUT, Line, lines, parts, spread

XML = """<?xml version="1.0" encoding="ISO-8859-1"?>
<WhiteboardCaptureSession>
  <WhiteboardDescription><SensorLocation corner="top_left"/></WhiteboardDescription>
  <StrokeSet>
    <Stroke colour="black" start_time="1.0" end_time="2.0">
      <Point x="1073" y="1058" time="1.0"/>
      <Point x="1080" y="1050" time="1.1"/>
    </Stroke>
    <Stroke colour="black" start_time="3.0" end_time="4.0">
      <Point x="1100" y="1052" time="3.0"/>
    </Stroke>
  </StrokeSet>
</WhiteboardCaptureSession>
"""


@pytest.fixture
def folder(tmp_path):
    """A folder in the format of the original: a form of two lines, and more of one each."""
    for n in range(HELD_OUT):
        form = f"a01-{n:03d}"
        strokes, words = (tmp_path / kind / "a01" / form for kind in ("lineStrokes", "ascii"))
        strokes.mkdir(parents=True)
        words.mkdir(parents=True)
        (words / f"{form}u.txt").write_text(
            f"OCR:\n\nA move\nform {n}\n\nCSR:\n\nA MOVE\nform {n}\n"
        )
        for line in (1, 2):
            (strokes / f"{form}u-{line:02d}.xml").write_text(XML)
    return tmp_path


def test_line_has_its_offsets_its_lifts_and_its_words(folder):
    first, second, *_ = lines(folder)
    assert (first.form, first.words, second.words) == ("a01-000", "A MOVE", "form 0")
    assert np.array_equal(first.points, [[0, 0, 0], [7, 8, 1], [20, -2, 1]])


def test_forms_are_in_one_part_each(folder):
    forms = [{line.form for line in part} for part in parts(folder)]
    assert [len(part) for part in forms] == [HELD_OUT - 2, 1, 1]
    assert not forms[0] & forms[1] | forms[0] & forms[2] | forms[1] & forms[2]


def test_line_without_words_is_left_out(folder):
    (folder / "ascii/a01/a01-000/a01-000u.txt").unlink()
    assert len([*lines(folder)]) == 2 * HELD_OUT - 2
    with pytest.raises(Refusal, match="at least 10 forms"):
        parts(folder)


@pytest.mark.parametrize(
    "content",
    [
        "",
        XML[:300],
        XML.replace('x="1080"', ""),
        XML.replace("1080", "far"),
        "<a/>",
        XML.replace("1080", "nan"),
    ],
)
def test_damaged_file_is_named(folder, content):
    (folder / "lineStrokes/a01/a01-003/a01-003u-01.xml").write_text(content)
    with pytest.raises(Refusal, match=r"a01-003u-01\.xml is no line of IAM-OnDB"):
        parts(folder)


def test_folder_that_is_not_one_of_them_is_refused(tmp_path):
    with pytest.raises(Refusal, match="has no lineStrokes, ascii"):
        parts(tmp_path)
    for kind in ("lineStrokes", "ascii"):
        (tmp_path / kind).mkdir()
    with pytest.raises(Refusal, match=r"holds no line as \.xml"):
        parts(tmp_path)


def test_offsets_have_a_spread_unless_no_pen_moves():
    still, moved = (Line("a01-000", np.array([[0, 0, 0], [x, 0, 1]]), "a") for x in (0, 4))
    assert spread([still, moved]) == np.std([0, 0, 0, 0, 0, 0, 4, 0])
    with pytest.raises(Refusal, match="The pen moves in none of the lines"):
        spread([still, still])
