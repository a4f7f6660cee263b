"""A callback of Lightning."""

from __future__ import annotations

import os
from typing import Any

import pytorch_lightning

from normgeo.callbacks.scalars import write_findings
from normgeo.torch import Recorder


class RecordingCallback(pytorch_lightning.Callback):  # type: ignore[misc]
    """Records what the first optimizer does, and logs what is found at the end of each epoch.

    Args:
        path: of the recording. options: `batch` or `table`, and others of `Recorder.of`.

    """

    def __init__(self, path: str | os.PathLike[str], **options: Any) -> None:
        super().__init__()
        self.path, self.options = path, options
        self.recorder: Recorder | None = None

    def on_train_start(self, trainer: Any, pl_module: Any) -> None:
        self.recorder = Recorder.of(pl_module, trainer.optimizers[0], self.path, **self.options)

    def on_train_epoch_end(self, trainer: Any, pl_module: Any) -> None:
        for logger in trainer.loggers:
            write_findings(self.path, logger.experiment, trainer.global_step)

    def teardown(self, trainer: Any, pl_module: Any, stage: str) -> None:
        if self.recorder is not None:
            self.recorder.close()
