"""Break one line after another, and check whether a test notices (needs cosmic-ray and coverage).

python -m tools.mutants cover PATH FOLDER        which tests of a path execute which line
python -m tools.mutants draw COUNT SEED FOLDER   draw a random sample of cosmic-ray's mutants
python -m tools.mutants run SECONDS FOLDER       try those not yet tried; which test notices which

Mutants are written into the current source tree: work in a copy.
"""

import json
import os
import random
import signal
import sys
import time
import warnings
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from hypothesis import Phase, settings

# On floats these raise at once: every test would notice them, which says nothing about the tests.
BITS = {"RShift", "LShift", "BitOr", "BitAnd", "BitXor"}
TYPES = "BitOr"  # joins types almost everywhere, and no test can tell annotations apart
LEAST = 7  # mutants per package, however small
# Seconds: a test counts as endless after PATIENCE and five times its usual time; a mutant is tried
# on tests of ENOUGH seconds in total.
PATIENCE, ENOUGH, FIRST = 6.0, 60.0, 12
RUNS = {"make test": "not exhaustive", "make exhaustive": "exhaustive", "none": ""}
QUIET = ["-q", "-p", "no:cacheprovider", "-W", "ignore::pytest.PytestAssertRewriteWarning"]


def package(path: str) -> str:
    """The folder in normgeo, which its tests have too."""
    return (*Path(path).parts[1:-1], "normgeo")[0]


def draw(count: str, seed: str, folder: Path) -> None:
    """Draw LEAST mutants of each package, then more from all together."""
    import parso  # noqa: F401 - cosmic-ray needs it to be imported first
    from cosmic_ray import ast as trees
    from cosmic_ray.mutating import mutate_code
    from cosmic_ray.plugins import get_operator, operator_names

    every, drawn, of = list[Any](), dict[str, dict[str, Any]](), Counter[str]()
    for path in sorted(map(str, Path("normgeo").rglob("*.py"))):
        nodes = list(trees.ast_nodes(trees.get_ast_from_path(Path(path))))
        for name in sorted(operator_names()):
            kind, (_, old, new) = get_operator(name), (name + "__").split("_")[:3]
            makes_sense = old != TYPES and (new not in BITS or old in BITS)
            if not kind.arguments() and ("Binary" not in name or makes_sense):
                places = [at for node in nodes for at in kind().mutation_positions(node)]
                every += [(path, name, nth, at[0][0]) for nth, at in enumerate(places)]
    random.Random(int(seed)).shuffle(every)
    warnings.simplefilter("error", SyntaxWarning)  # `is "word"` almost always equals `== "word"`
    for most in (LEAST, int(count)):
        for path, name, nth, line in every:
            known = f"{path}:{name[5:]}:{nth}"
            if len(drawn) < int(count) and of[package(path)] < most and known not in drawn:
                source = Path(path).read_text(encoding="utf-8")
                mutant = mutate_code(source, get_operator(name)(), nth)
                with suppress(SyntaxError):
                    compile(mutant, path, "exec")
                    of[package(path)] += 1
                    drawn[known] = {"id": known, "file": path, "line": line, "source": mutant}
    lines = (json.dumps(mutant) + "\n" for mutant in drawn.values())
    (folder / "mutants.jsonl").write_text("".join(lines), encoding="utf-8")


def cover(path: str, folder: Path) -> None:
    import coverage

    name, tests, failed = path.replace("/", "."), dict[str, tuple[float, bool]](), set[str]()
    measure = coverage.Coverage(folder / f"{name}.cover", include=["normgeo/*"], config_file=False)
    measure.set_option("run:relative_files", True)

    def start(nodeid: str) -> None:
        measure.switch_context(nodeid)

    def end(report: Any) -> None:
        seconds, _ = tests.get(report.nodeid, (0.0, False))
        tests[report.nodeid] = (seconds + report.duration, "exhaustive" in report.keywords)
        if report.failed:  # it would fail for every mutant
            failed.add(report.nodeid)

    with measure.collect():
        hooks = {"pytest_runtest_logstart": start, "pytest_runtest_logreport": end}
        pytest.main([*QUIET, path], [type("Plugin", (), hooks)])
    measure.save()
    passed = {test: told for test, told in tests.items() if test not in failed}
    (folder / f"{name}.tests").write_text(json.dumps(passed), encoding="utf-8")


def tests_of(path: str, line: int, exhaustive: bool, folder: Path) -> dict[str, float]:
    """Tests for a mutant and their seconds: those that execute its line first, then tests nearby.

    Of the latter, one case of each function, fastest first, then another of each.
    """
    from coverage import CoverageData

    found, cases, near = list[tuple[int, int, float, str]](), Counter[str](), dict[str, int]()
    for file in folder.glob("*.tests"):
        (data := CoverageData(str(file.with_suffix(".cover")))).read()
        for at, names in data.contexts_by_lineno(path).items():
            for name in names:
                near[name] = min(abs(at - line), near.get(name, at + line))
        tests = json.loads(file.read_bytes()).items()
        for seconds, name in sorted((it[0], name) for name, it in tests if it[1] == exhaustive):
            if name in near:
                case = name.split("[")[0]
                found.append((near[name], cases[case], seconds, name))
                cases[case] += 1
    left, chosen = ENOUGH, dict[str, float]()
    for *_, seconds, name in sorted(found):
        if seconds < left:
            left -= seconds
            chosen[name] = seconds
    return chosen


def attempt(mutant: dict[str, Any], tests: dict[str, float], mark: str, folder: Path) -> str:
    """Run tests on a mutant in a separate process; return the first that fails, or ""."""

    def select(items: list[Any]) -> None:
        phases = (Phase.explicit, Phase.generate)
        settings.register_profile("few", max_examples=15, derandomize=True, phases=phases)
        settings.load_profile("few")
        by_name = {item.nodeid: item for item in items}
        items[:] = [by_name[name] for name in tests if name in by_name]

    def start(nodeid: str) -> None:
        now.write_text(nodeid, encoding="utf-8")
        signal.setitimer(signal.ITIMER_PROF, PATIENCE + 5 * tests[nodeid])

    hooks = {"pytest_collection_modifyitems": select, "pytest_runtest_logstart": start}
    (now := folder / "now").write_text("import", encoding="utf-8")
    path = Path(mutant["file"])
    kept, times = path.read_bytes(), path.stat()
    path.write_text(mutant["source"], encoding="utf-8")
    try:
        if not (child := os.fork()):
            os.setsid()
            for stream in (1, 2):
                os.dup2(os.open(folder / "log", os.O_WRONLY | os.O_CREAT | os.O_TRUNC), stream)
            signal.setitimer(signal.ITIMER_PROF, 5 * PATIENCE)
            signal.alarm(1200)  # a waiting child uses no processor time
            files = dict.fromkeys(name.split("::")[0] for name in tests)
            os._exit(pytest.main([*QUIET, "-x", "-m", mark, *files], [type("Plugin", (), hooks)]))
        code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        with suppress(ProcessLookupError):
            os.killpg(child, signal.SIGKILL)  # processes that its tests started
        if code == 3:  # otherwise our own errors would count as noticed
            raise SystemExit(f"pytest itself failed; it says why in {folder / 'log'}.")
        return now.read_text(encoding="utf-8") if code not in {0, 5} else ""  # 5: it has no tests
    finally:
        path.write_bytes(kept)
        os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))


def run(seconds: str, folder: Path) -> None:
    os.environ.update(PYTHONDONTWRITEBYTECODE="1", OPENBLAS_NUM_THREADS="1")
    sys.dont_write_bytecode = True
    for name in ("scipy.stats", "sklearn", "plotly.graph_objects", "streamlit"):
        import_module(name)  # imported once, not for each mutant
    end, results = time.monotonic() + float(seconds), folder / "results.jsonl"
    results.touch()
    told = {it["id"]: it for it in map(json.loads, results.open(encoding="utf-8"))}
    for it in map(json.loads, (folder / "mutants.jsonl").open(encoding="utf-8")):
        for by, mark in RUNS.items() if time.monotonic() < end and it["id"] not in told else ():
            tests = tests_of(it["file"], it["line"], mark == "exhaustive", folder)
            first = dict([*tests.items()][:FIRST])  # enough for most mutants
            tries = (attempt(it, some, mark, folder) for some in (first, tests) if some and mark)
            if (test := next(filter(None, tries), "")) or not mark:
                told[it["id"]] = {"id": it["id"], "by": by, "test": test}
                with results.open("a", encoding="utf-8") as file:
                    file.write(json.dumps(told[it["id"]]) + "\n")
                break
    counts = Counter((package(it["id"].split(":")[0]), it["by"]) for it in told.values())
    print("| package |", *(f"{by} |" for by in RUNS))
    for name in sorted({name for name, _ in counts}):
        print(f"| {name} |", *(f"{counts[name, by]} |" for by in RUNS))
    print(*(it["id"] for it in told.values() if it["by"] == "none"), sep="\n")
    unchanged = {"file": __file__, "source": Path(__file__).read_text(encoding="utf-8")}
    trusted = {it["test"]: ENOUGH for it in told.values() if "::" in it["test"]}
    if failed := attempt(unchanged, trusted, "", folder):
        raise SystemExit(f"{failed} fails without a mutant, too: {folder / 'log'} says why.")


if __name__ == "__main__":
    commands: dict[str, Callable[..., None]] = {"draw": draw, "cover": cover, "run": run}
    commands[sys.argv[1]](*sys.argv[2:-1], Path(sys.argv[-1]))
