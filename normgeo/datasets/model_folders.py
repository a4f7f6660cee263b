"""Folders of models: shards by their index, and the description of the network in config.json."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping
from pathlib import Path, PurePosixPath, PureWindowsPath
from typing import Any, NamedTuple, final

from normgeo.base.refusal import Refusal

CONFIG = "config.json"
INDEX = ".index.json"
WHOLE = ("model.safetensors", "pytorch_model.bin")
"""Names of the weights of a folder; the index of their shards has the same name and INDEX."""

LARGEST = 20 * 10**6
"""Largest size of an index or config.json in bytes; those of the largest models are a tenth."""

MOST_SHARDS = 2000

EPSILONS = ("rms_norm_eps", "layer_norm_epsilon", "layer_norm_eps", "norm_epsilon", "norm_eps")
"""Names of ε in config.json."""


@final
class Configuration(NamedTuple):
    """The contents of config.json: the family of the network, or "", and its ε, or None."""

    family: str
    eps: float | None


def is_description(path: Path) -> bool:
    """Whether a file describes a model and contains no tensors."""
    return path.name == CONFIG


def expanded(path: Path) -> list[Path]:
    """Return the files of a folder or an index, with config.json; for any other file, itself.

    Raises:
        ValueError: no weights in it, or a bad index. OSError: a file cannot be read.

    """
    if path.is_dir():
        found = _of_folder(path)
    elif path.name.endswith(INDEX):
        found = _shards(path)
    else:
        return [path]
    config = (path if path.is_dir() else path.parent) / CONFIG
    return [*([config] if config.is_file() else []), *found]


def _of_folder(folder: Path) -> list[Path]:
    for name in WHOLE:
        if (index := folder / f"{name}{INDEX}").exists():
            return _shards(index)
        if (whole := folder / name).exists():
            return [whole]
    if found := sorted(folder.glob("*.safetensors")):
        return found
    raise Refusal(
        "A folder of a model holds {whole} or its index with shards; {path!s} holds neither. "
        "Give its files of tensors by name.",
        whole=WHOLE[0],
        path=folder,
    )


def _shards(index: Path) -> list[Path]:
    """Return the files of an index in order, after checking that each exists."""
    said = _json(index).get("weight_map")
    files: Mapping[str, str] = said if said is not None and _is_map(said) else {}
    names = {*files.values()}
    if not names or len(names) > MOST_SHARDS:
        raise Refusal(
            "An index maps tensors to files, `weight_map`, up to {most}; {path!s} has none.",
            most=MOST_SHARDS,
            path=index,
        )
    found = []
    for name in sorted(names):
        plain = PurePosixPath(name).name == name == PureWindowsPath(name).name
        if not plain or name in {"", ".", ".."}:
            raise Refusal(
                "Shards lie beside their index; {path!s} names {name!r}.",
                path=index,
                name=name[:80],
            )
        shard = index.parent / name
        if not shard.is_file():
            missing = sum(file == name for file in files.values())
            raise Refusal(
                "{path!s} names the shard {name!s}, with {count} of its tensors, which is not "
                "there. Fetch it too.",
                path=index,
                name=name[:80],
                count=missing,
            )
        found.append(shard)
    return found


def _is_map(files: object) -> bool:
    return isinstance(files, Mapping) and all(isinstance(file, str) for file in files.values())


def require_whole(index: Path, there: Mapping[str, str]) -> None:
    """Refuse shards that do not contain what their index says.

    Args:
        index: of the shards. there: the file of each tensor found, by name.

    """
    for name, file in _json(index)["weight_map"].items():
        if there.get(name) != file:
            raise Refusal(
                "{path!s} says that {name!r} is in {file!s}, and it is not. Fetch the shards "
                "again.",
                path=index,
                name=name[:80],
                file=file[:80],
            )


def index_of(path: Path) -> Path | None:
    """Return the index of a folder or path; None if there is none."""
    if path.is_dir():
        return next((one for name in WHOLE if (one := path / f"{name}{INDEX}").exists()), None)
    return path if path.name.endswith(INDEX) else None


def configuration(paths: Iterable[Path]) -> Configuration:
    """Return the contents of the first config.json among files.

    Raises:
        ValueError: it is not a JSON object. OSError: it cannot be read.

    """
    for path in paths:
        if is_description(path):
            said = _json(path)
            inner = said.get("text_config")  # models of images and text
            both = {**(inner if isinstance(inner, Mapping) else {}), **said}
            eps = next((both[key] for key in EPSILONS if _is_eps(both.get(key))), None)
            family = said.get("model_type")
            return Configuration(family if isinstance(family, str) else "", eps)
    return Configuration("", None)


def _is_eps(value: object) -> bool:
    return isinstance(value, float) and 0 <= value < 1


def _json(path: Path) -> dict[str, Any]:
    if path.exists() and not path.is_file():
        raise Refusal("{path!s} is no file.", path=path)
    with path.open("rb") as file:
        content = file.read(LARGEST + 1)
    try:
        if len(content) > LARGEST:
            raise ValueError(f"it is over {LARGEST:,} bytes long")
        said = json.loads(content)
        if not isinstance(said, dict):
            raise TypeError("it is no object")
    except (ValueError, TypeError, RecursionError) as error:
        raise Refusal(
            "{path!s} must be JSON that describes a model ({error!s}).",
            path=path,
            error=str(error)[:200].rstrip("."),
        ) from error
    return said


def resolved(paths: Iterable[str | os.PathLike[str]]) -> list[Path]:
    """Return the files of several paths; see `expanded`."""
    return [file for path in paths for file in expanded(Path(path))]
