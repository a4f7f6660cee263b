"""Run the benchmarks and rewrite their tables: `python -m benchmarks [name …]`, all by default."""

import re
import sys
from importlib import import_module
from pathlib import Path

from benchmarks.timing import machine, table

# A benchmark is a module here with a TITLE and `rows()`; adding its name to this list is enough.
BENCHMARKS = (
    "imports",
    "fisher",
    "spectra",
    "peers",
    "rows",
    "ranks",
    "workers",
    "descent",
    "sequences",
    "recorder",
    "recording",
    "measuring",
    "costs",
    "pages",
    "frames",
    "load",
    "experiments",
)
README = Path(__file__).with_name("README.md")


def main(names: list[str]) -> None:
    unknown = sorted(set(names) - set(BENCHMARKS))
    if unknown:
        sys.exit(f"Benchmarks are {', '.join(BENCHMARKS)}; got {', '.join(unknown)}.")
    failed = []
    for name in names or BENCHMARKS:
        benchmark = import_module(f"benchmarks.{name}")
        print(f"{benchmark.TITLE} …", flush=True)
        rows, why = [], "There is nothing to compare with."
        try:
            for row in benchmark.rows():
                rows.append(row)
                print(f"  {row.what}: {row.ratio} {row.aim and f'(aim {row.aim})'}", flush=True)
        except Exception as error:  # whatever fails in one, the others run
            rows, why = [], str(error).strip().partition("\n")[0] or type(error).__name__
        if not rows:
            print(f"  {why} Its table stays as it was.", flush=True)
            failed.append(name)
            continue
        section = f"### {benchmark.TITLE}\n\n{machine()}\n\n{table(rows)}"
        README.write_text(with_section(README.read_text("utf-8"), name, section), "utf-8")
    if failed:
        sys.exit(f"No figures came of {', '.join(failed)}: the sentences above say why.")


def with_section(text: str, name: str, section: str) -> str:
    """Return the text with the section of that name replaced, or appended."""
    begin, end = f"<!-- {name} -->", f"<!-- end of {name} -->"
    marked = f"{begin}\n{section}\n{end}"
    pattern = re.compile(re.escape(begin) + ".*?" + re.escape(end), re.DOTALL)
    if pattern.search(text):
        return pattern.sub(lambda _: marked, text)
    return f"{text.rstrip()}\n\n{marked}\n"


if __name__ == "__main__":
    main(sys.argv[1:])
