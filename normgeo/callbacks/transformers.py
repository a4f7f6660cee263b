"""A callback of the Trainer of Hugging Face."""

from __future__ import annotations

import os
from typing import Any

import transformers

from normgeo.callbacks.scalars import write_findings
from normgeo.torch import Recorder


class RecordingCallback(transformers.TrainerCallback):  # type: ignore[misc]
    """Records what the optimizer does, and writes what is found where the Trainer logs.

    Args:
        path: of the recording. writer: of TensorBoard, or a run of W&B; None writes nothing.
        options: `batch` or `table`, and others of `normgeo.torch.Recorder.of`.

    """

    def __init__(self, path: str | os.PathLike[str], writer: Any = None, **options: Any) -> None:
        self.path, self.writer, self.options = path, writer, options
        self.recorder: Recorder | None = None

    def on_train_begin(self, args: Any, state: Any, control: Any, **given: Any) -> None:
        given = {"model": given["model"], "optimizer": given["optimizer"]}
        self.recorder = Recorder.of(**given, path=self.path, **self.options)

    def on_log(self, args: Any, state: Any, control: Any, **given: Any) -> None:
        write_findings(self.path, self.writer, state.global_step)

    def on_train_end(self, args: Any, state: Any, control: Any, **given: Any) -> None:
        if self.recorder is not None:
            self.recorder.close()
