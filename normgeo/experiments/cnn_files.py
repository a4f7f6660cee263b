"""Questions on stories of CNN, from the files that DeepMind's script makes of them.

A file `questions/PART/….question`, PART being training, validation or test, has five parts with
blank lines between them: address, story, query with a @placeholder, the answer, and the names, as
`@entity0:London`. Stories and queries are lines of words with @entity0, @entity1 … for names.
Source: Hermann et al., Teaching machines to read and comprehend, 2015, section 2.
"""

from __future__ import annotations

from pathlib import Path

from normgeo.base.refusal import Refusal
from normgeo.experiments.questions import DOCUMENT, ENTITIES, PLACEHOLDER, QUERY, Question

FOLDERS = {"training": 20_000, "validation": 500, "test": 500}
"""The parts, and how many of their files are read, the first ones by name."""


def of_folder(where: str) -> tuple[list[Question], list[Question], list[Question]]:
    """Return questions to learn from, for validation, for the test.

    Stories are cut to their first words. Questions whose answer is not among these are left out.

    Raises:
        ValueError: no such folder, none that can be asked, or a damaged file.

    """
    root = Path(where)
    root = root if (root / "training").is_dir() else root / "questions"
    parts = []
    for name, most in FOLDERS.items():
        files = sorted((root / name).glob("*.question"))[:most]
        found = [one for file in files if (one := read(file)) is not None]
        if not found:
            raise Refusal(
                "Questions on CNN's stories are files {name!s}/*.question in a folder "
                "`questions`; got {where!s}, with {n} such files, and none with its answer in "
                "the first {words} words. Name the folder that DeepMind's script has written.",
                name=name,
                where=where,
                n=len(files),
                words=DOCUMENT,
            )
        parts.append(found)
    learned, validation, test = parts
    return learned, validation, test


def read(file: Path) -> Question | None:
    """Return the question of a file; None if the answer is not in the first words of its story.

    Raises:
        ValueError: a file that is damaged.

    """
    try:
        parts = file.read_text("utf-8").strip().split("\n\n")
    except UnicodeDecodeError:
        parts = []
    if len(parts) != 5 or PLACEHOLDER not in parts[2].split():
        raise Refusal(
            "A question has five parts with blank lines between them, and a {placeholder!s} in "
            "the third; {file!s} has {n} parts. Get the file again, or take it away.",
            placeholder=PLACEHOLDER,
            file=file,
            n=len(parts),
        )
    _, story, query, answer, mapping = (part.strip() for part in parts)
    words = query.split()
    first = max(0, min(words.index(PLACEHOLDER) - QUERY // 2, len(words) - QUERY))
    document, asked = story.split()[:DOCUMENT], words[first : first + QUERY]
    names = dict.fromkeys(word for word in (*document, *asked) if word.startswith("@entity"))
    if answer not in document or len(names) > ENTITIES:
        return None
    number = {word: f"@entity{at}" for at, word in enumerate(names)}
    said = dict(line.split(":", 1) for line in mapping.splitlines() if ":" in line)
    shown, query_shown = (
        tuple(number.get(word, word) for word in each) for each in (document, asked)
    )
    spelled = tuple(said.get(word, word) for word in names)
    return Question(shown, query_shown, number[answer], spelled)
