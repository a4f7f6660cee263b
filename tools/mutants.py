"""Break one place after another, and see whether a test notices (needs cosmic-ray and coverage).

python -m tools.mutants cover PACKAGE FOLDER     which test of the package executes which line
python -m tools.mutants draw COUNT SEED FOLDER   a random sample of cosmic-ray's mutants
python -m tools.mutants run SECONDS FOLDER       try those not yet tried; names those not noticed

Mutants are written into the tree where this runs: take a copy.
"""

import ast
import json
import os
import random
import signal
import sys
import time
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import Phase, settings

PACKAGES = ("normalizers", "invariance", "models", "fisher", "symmetry", "dynamics")
# On floats these raise at once: they would count as noticed, and say nothing of any test.
BITS = {"RShift", "LShift", "BitOr", "BitAnd", "BitXor"}
# Seconds: beyond five times what a test took, it does not end; of tests elsewhere so many are run.
PATIENCE, ELSEWHERE, FIRST = 6.0, 20.0, 20
QUIET = ["-q", "-p", "no:cacheprovider", "-W", "ignore::pytest.PytestAssertRewriteWarning"]


class Plugin:
    """Functions that pytest calls by their names."""

    def __init__(self, **functions: Any) -> None:
        vars(self).update(functions)


def executed(source: str) -> str:
    """A module as words, without annotations and unions of types, which no test can tell apart."""
    tree = ast.parse(source)
    for node in ast.walk(tree):
        match node:
            case ast.arg() | ast.AnnAssign():
                node.annotation = ast.Name("")
            case ast.FunctionDef():
                node.returns = None
            case ast.Assign(value=ast.BinOp(op=ast.BitOr())) if node in tree.body:
                node.value = ast.Name("")
    return ast.dump(tree)


def draw(count: str, seed: str, folder: Path) -> None:
    import parso  # noqa: F401 - cosmic-ray needs it to be imported first
    from cosmic_ray import ast as trees
    from cosmic_ray.mutating import mutate_code
    from cosmic_ray.plugins import get_operator, operator_names

    every, drawn = [], list[str]()
    for path in sorted(path for name in PACKAGES for path in Path("normgeo", name).glob("*.py")):
        nodes = list(trees.ast_nodes(trees.get_ast_from_path(path)))
        for name in sorted(operator_names()):
            kind, (_, old, new) = get_operator(name), (name + "__").split("_")[:3]
            if not kind.arguments() and ("Binary" not in name or new not in BITS or old in BITS):
                places = [at for node in nodes for at in kind().mutation_positions(node)]
                every += [(path, name, nth, at[0][0]) for nth, at in enumerate(places)]
    random.Random(int(seed)).shuffle(every)
    for path, name, nth, line in every:
        mutant = mutate_code(source := path.read_text(encoding="utf-8"), get_operator(name)(), nth)
        with suppress(SyntaxError):
            if executed(mutant) != executed(source):
                known = {"id": f"{path}:{name[5:]}:{nth}", "file": str(path), "line": line}
                drawn.append(json.dumps({**known, "source": mutant}) + "\n")
        if len(drawn) == int(count):
            break
    (folder / "mutants.jsonl").write_text("".join(drawn), encoding="utf-8")


def cover(package: str, folder: Path) -> None:
    import coverage

    measure, lines = coverage.Coverage(data_file=None, include=["normgeo/*"]), dict[str, Any]()
    seconds = Counter[str]()

    def start(nodeid: str) -> None:
        measure.switch_context(nodeid)

    def end(report: Any) -> None:
        seconds[report.nodeid] += report.duration

    watch = Plugin(pytest_runtest_logstart=start, pytest_runtest_logreport=end)
    with measure.collect():
        pytest.main([*QUIET, f"tests/{package}", f"normgeo/{package}"], [watch])
    places = {name: place for place, name in enumerate(seconds)}
    for path in measure.get_data().measured_files():
        found = measure.get_data().contexts_by_lineno(path).items()
        lines[os.path.relpath(path)] = {n: [places[test] for test in t if test] for n, t in found}
    words = json.dumps({"tests": [*seconds.items()], "lines": lines})
    (folder / f"cover_{package}.json").write_text(words, encoding="utf-8")


def tests_of(path: str, line: int, maps: dict[str, Any]) -> dict[str, float]:
    """Tests that execute the line, and their seconds, or all that execute anything of the module.

    One case of each function, the fastest first, then a second case of each; elsewhere only one.
    """
    found = list[tuple[bool, int, float, str]]()
    for lines in ((line,), range(10**4)):
        for package, it in maps.items():
            seen, by_line = Counter[str](), it["lines"].get(path, {})
            places = {place for number in lines for place in by_line.get(str(number), ())}
            for seconds, name in sorted(it["tests"][place][::-1] for place in places):
                turn = seen[name.split("[")[0]]
                found.append((f"/{package}/" not in path, turn, seconds, name))
                seen[name.split("[")[0]] += 1
        if found:
            break
    left, chosen = ELSEWHERE, dict[str, float]()
    for elsewhere, turn, seconds, name in sorted(found):
        left -= seconds * elsewhere
        if not elsewhere or (turn == 0 and left > 0):
            chosen[name] = seconds
    return chosen


def attempt(path: Path, mutant: str, tests: dict[str, float], log: Path) -> int:
    """Run the tests on a mutant in a process of its own, until one fails; its exit code."""

    def choose(items: list[Any]) -> None:
        phases = (Phase.explicit, Phase.generate)
        settings.register_profile("few", max_examples=15, derandomize=True, phases=phases)
        settings.load_profile("few")
        order = {name: place for place, name in enumerate(tests)}
        chosen = [item for item in items if item.nodeid in order]
        items[:] = sorted(chosen, key=lambda item: order[item.nodeid])

    def start(nodeid: str) -> None:
        signal.setitimer(signal.ITIMER_PROF, PATIENCE + 5 * tests[nodeid])

    chosen = Plugin(pytest_collection_modifyitems=choose, pytest_runtest_logstart=start)
    kept, times = path.read_bytes(), path.stat()
    path.write_text(mutant, encoding="utf-8")
    try:
        if not (child := os.fork()):
            os.setsid()
            for stream in (1, 2):
                os.dup2(os.open(log, os.O_WRONLY | os.O_CREAT | os.O_TRUNC), stream)
            signal.setitimer(signal.ITIMER_PROF, 5 * PATIENCE)
            signal.alarm(1200)  # a child that waits uses no time of the processor
            files = dict.fromkeys(name.split("::")[0] for name in tests)
            os._exit(pytest.main([*QUIET, "-x", *files], [chosen]))
        code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        if code in {3, 4}:  # else a mistake of ours would count as noticed
            raise SystemExit(f"pytest itself failed; it says why in {log}.")
        with suppress(ProcessLookupError):
            os.killpg(child, signal.SIGKILL)  # what its tests started
        return 0 if code == 5 else code  # 5: none of them is there any more
    finally:
        path.write_bytes(kept)
        os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))


def run(seconds: str, folder: Path) -> None:
    os.environ.update(PYTHONDONTWRITEBYTECODE="1", OPENBLAS_NUM_THREADS="1")
    sys.dont_write_bytecode = True
    end, results, log = time.monotonic() + float(seconds), folder / "results.jsonl", folder / "log"
    maps = {f.stem[6:]: json.loads(f.read_bytes()) for f in sorted(folder.glob("cover_*.json"))}
    if missing := {*PACKAGES} - {*maps}:
        raise SystemExit(
            f"`cover` first tells which tests of {', '.join(sorted(missing))} run what."
        )
    results.touch()
    told = [json.loads(line) for line in results.open(encoding="utf-8")]
    for line in (folder / "mutants.jsonl").open(encoding="utf-8"):
        it = json.loads(line)
        if time.monotonic() < end and all(it["id"] != other["id"] for other in told):
            path, tests = Path(it["file"]), tests_of(it["file"], it["line"], maps)
            first = dict([*tests.items()][:FIRST])  # most mutants need no more
            runs = (attempt(path, it["source"], some, log) for some in (first, tests) if some)
            told.append({"id": it["id"], "code": next(filter(None, runs), 0), "tests": len(tests)})
            with results.open("a", encoding="utf-8") as file:
                file.write(json.dumps(told[-1]) + "\n")
    for name in PACKAGES:
        codes = [it["code"] for it in told if it["id"].startswith(f"normgeo/{name}/")]
        print(f"{name}: {len(codes)} mutants, {codes.count(0)} not noticed")
    print(*(it["id"] for it in told if it["code"] == 0), sep="\n")


if __name__ == "__main__":
    commands: dict[str, Callable[..., None]] = {"draw": draw, "cover": cover, "run": run}
    commands[sys.argv[1]](*sys.argv[2:-1], Path(sys.argv[-1]))
