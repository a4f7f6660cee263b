"""A callback of Keras."""

from __future__ import annotations

import os
from typing import Any

import keras

from normgeo.callbacks.scalars import write_findings
from normgeo.keras import Recorder


class RecordingCallback(keras.callbacks.Callback):  # type: ignore[misc]
    """Records what `fit` does, and writes what is found at the end of each epoch.

    Args:
        path: of the recording. writer: of TensorBoard, or a run of W&B; None writes nothing.
        options: the `table`, and others of `normgeo.keras.Recorder.of`.

    """

    def __init__(self, path: str | os.PathLike[str], writer: Any = None, **options: Any) -> None:
        super().__init__()
        self.path, self.writer, self.options = path, writer, options

    def on_train_begin(self, logs: Any = None) -> None:
        self.recorder = Recorder.of(self.model, self.path, **self.options)

    def on_train_batch_begin(self, batch: int, logs: Any = None) -> None:
        self.recorder.before_step()

    def on_train_batch_end(self, batch: int, logs: Any = None) -> None:
        self.recorder.step()

    def on_epoch_end(self, epoch: int, logs: Any = None) -> None:
        write_findings(self.path, self.writer, int(self.model.optimizer.iterations))

    def on_train_end(self, logs: Any = None) -> None:
        self.recorder.close()
