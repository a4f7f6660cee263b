"""The story: one text in three languages, and the same as a file without a server."""

import json
import re
import string
from html import unescape

from normgeo.pictures import PICTURES
from normgeo.settings import LANGUAGES, Settings
from normgeo.story import page as page_file
from normgeo.story.story import STATES, language, story
from normgeo.ui.frame import PAGES

OTHER_LETTERS = {"ko": r"[가-힣]", "zh": r"[一-鿿]"}


def test_every_language_tells_the_same_chapters_with_the_same_pictures():
    assert set(LANGUAGES) == {"en", "ko", "zh"}
    for key in LANGUAGES:
        told = story(key)
        opening, *chapters, terms = told.chapters
        assert [one.picture for one in (opening, *chapters)] == list(STATES)
        assert len(chapters) == 7
        assert opening.title == "", "its title is that of all"
        for one in (opening, *chapters):
            assert one.more, "each goes on somewhere"
            assert one.page in PAGES
            assert one.words
        assert opening.words.startswith("**normgeo**"), "a line says what this is"
        assert terms.picture == ""
        assert {"layer normalization", "invariance"} <= {
            re.sub(r"[^ -~]|\(.*", "", term).strip() for term in terms.words.split("·")
        }, "each term with its English one"
        if key in OTHER_LETTERS:
            letters = re.findall(
                OTHER_LETTERS[key], told.title + "".join(c.words for c in chapters)
            )
            assert len(letters) > 500, "in its own letters"


def test_english_has_under_900_words():
    told = story("en")
    parts = (f"{one.title} {one.words} {one.after} {one.more}" for one in told.chapters)
    words = " ".join([told.title, *parts]).split()
    assert 600 < sum(not set(string.ascii_letters).isdisjoint(word) for word in words) < 900


def test_numbers_in_the_text_are_those_of_the_first_figure():
    """Eight pictures and ten neurons are told; the figure has them."""
    opening = story("en").chapters[0]
    result = PICTURES[opening.picture].compute(opening.settings(Settings()))
    assert len(result.cases) == 8
    assert len(result.effect.methods["batch"].before.z) == 10
    assert "eight handwritten digits" in opening.after
    assert "ten neurons" in opening.after


def test_language_is_that_of_the_browser_unless_one_is_wanted():
    assert language("auto", "ko-KR") == "ko"
    assert language("auto", "zh-Hant-TW") == "zh"
    assert language("auto", "de-DE") == language("auto", None) == language("auto", "") == "en"
    assert language("en", "ko-KR") == "en"


def test_a_chapter_opens_where_the_slider_stands_and_so_does_its_page():
    opening, *_, turn, _, _, _ = story("en").chapters
    visitor = Settings(delta=5, growth=4, dataset="iris", theme="dark")
    assert opening.settings(visitor) == Settings(
        cell="layer.case_rescaling", delta=5, theme="dark"
    ), "of the digits, whatever other pages show"
    assert opening.query(visitor) == {"cell": "layer.case_rescaling", "delta": "5"}
    assert turn.picture == "turn"
    assert turn.query(visitor) == {"method": "batch", "growth": "4"}


def test_file_holds_the_text_and_every_figure_and_needs_no_network():
    told = story("zh")
    settings = Settings(delta=2)
    drawn = page_file.figures(settings)
    content = page_file.page(told, settings, drawn, app="https://class.example/norms/")
    head = content.partition("<script>")[0]
    assert '<html lang="zh">' in content
    assert f"<h1>{told.title}</h1>" in head
    for chapter in told.chapters:
        assert f"<h2>{chapter.title}</h2>" in head or not chapter.title
    assert head.count("<figure ") == len(STATES)
    assert (
        'href="https://class.example/norms/invariance?cell=layer.case_rescaling&amp;delta=2"'
        in head
    )
    assert not re.findall(r"(?:src|href)=[\"'](?!https://class\.example|#)", head)
    figures = content.rpartition("const figures = [")[2].partition("];\ndocument")[0]
    drawn = json.loads(f"[{figures.strip().rstrip(',')}]")
    assert len(drawn) == len(STATES)
    assert (
        drawn[0]["layout"]["meta"]["steps"]["values"][drawn[0]["layout"]["meta"]["steps"]["start"]]
        == "2"
    )


def test_file_has_no_links_without_an_application(monkeypatch):
    monkeypatch.setattr(page_file, "document", lambda title, sections, language: sections)
    sections = page_file.page(story("en"), Settings(), {})
    assert len(sections) == len(STATES) + 1
    assert not any("<a " in one.before + one.after for one in sections)


def test_gallery_has_the_line_that_embeds_each_figure():
    picture = PICTURES["table_1"]
    one = page_file.figure(picture, Settings())
    content = page_file.gallery([one], ["https://your.server/invariance?embed=true&tab=own"])
    assert f"<h2>{picture.title}</h2>" in content
    (line,) = re.findall("<pre><code>(.*)</code></pre>", content)
    address = "https://your.server/invariance?embed=true&tab=own"
    assert unescape(line) == f'<iframe src="{address}" width="1000" height="620"></iframe>'
