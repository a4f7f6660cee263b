"""Citations of the paper's equations name their section, and those of the metric the subject."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
FOLDERS = ("normgeo", "pages", "docs")

SECTIONS = {
    **dict.fromkeys((1, 2), "2"),
    3: "3",
    4: "3.1",
    **dict.fromkeys((5, 6, 7), "5.1"),
    **dict.fromkeys((8, 9), "5.2.1"),
    **dict.fromkeys((10, 11, 12, 13, 14), "5.2.2"),
}

SUBJECTS = {
    8: r"KL|metric|divergence",
    9: r"Fisher|∇|\\nabla|outer product|gradients",
    10: r"likelihood|linear model|log partition|log P|= A'",
    11: r"E\[y|mathbb\{E\}\[y|mean|covariance|log partition",
    12: r"Kronecker|standard",
}
"""Words, one of which must be near the number: these equations are easily confused."""
NEAR = 150  # characters on each side

NUMBERS = r"\d+(?:(?:, | and | to |–)\d+\b(?!\.\d))*"
CITED = re.compile(rf"Eq\. ({NUMBERS})")
SECTION = r"\d(?:\.\d)*"
PLACED = re.compile(
    rf"[Ss]ections? ({SECTION})(?:( and | to |, )({SECTION}))?(?:,| and) Eq\. ({NUMBERS})"
)


def numbers_of(words: str) -> list[int]:
    """The numbers of "8, 9 and 13" or "8 to 11"."""
    found = [int(number) for number in re.findall(r"\d+", words)]
    return list(range(found[0], found[-1] + 1)) if re.search(r" to |–", words) else found


def files() -> Iterator[tuple[str, str]]:
    """Each file that cites an equation, with sentences joined across line ends."""
    found = [ROOT / name for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md")]
    for folder in FOLDERS:
        found += [f for f in (ROOT / folder).rglob("*") if f.suffix in {".py", ".md", ".html"}]
    for file in found:
        words = file.read_text("utf-8")
        if "Eq." in words:
            joined = re.sub(r'"?\s*\n\s*(?:\br?f?")?', " ", words)
            yield str(file.relative_to(ROOT)), re.sub(r"\s+", " ", joined)


def test_numbers_are_read_from_lists_and_ranges() -> None:
    assert numbers_of("8, 9 and 13") == [8, 9, 13]
    assert numbers_of("8 to 11") == numbers_of("8–11") == [8, 9, 10, 11]
    assert CITED.findall("Eq. 8 and 9, and Eq. 5. Eq. 10 and 11.") == ["8 and 9", "5", "10 and 11"]
    assert PLACED.findall("Section 5.2.1, Eq. 8 and 9.") == [("5.2.1", "", "", "8 and 9")]


@pytest.mark.parametrize("number", SUBJECTS)
def test_equation_stands_by_what_it_says(number: int) -> None:
    around = [
        (file, words[max(found.start() - NEAR, 0) : found.end() + NEAR])
        for file, all_words in files()
        for words in (PLACED.sub("", all_words),)  # the other test checks those with a section
        for found in CITED.finditer(words)
        if number in numbers_of(found[1])
    ]
    assert around, "nobody cites it"
    assert [each for each in around if not re.search(SUBJECTS[number], each[1])] == []


def test_equation_is_cited_in_its_section() -> None:
    wrong, seen = [], set()
    for file, words in files():
        for found in PLACED.finditer(words):
            first, between, last, listed = found.groups()
            cited = {SECTIONS[number] for number in numbers_of(listed)}
            named = {first, last or first}
            if between == " to ":
                named |= {section for section in cited if first <= section <= last}
            seen |= set(numbers_of(listed))
            if not cited <= named:
                wrong.append((file, found[0]))
    assert wrong == []
    assert seen >= set(range(2, 15))
