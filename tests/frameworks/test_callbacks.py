"""Callbacks record what Lightning and the Trainer do, and findings reach TensorBoard and W&B."""

import inspect
from pathlib import Path
from unittest.mock import patch

import numpy as np
import pytest
import pytorch_lightning
import torch
import wandb
from pytorch_lightning.loggers import TensorBoardLogger
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
from torch import nn
from torch.utils.data import DataLoader, Dataset, TensorDataset
from torch.utils.tensorboard import SummaryWriter
from transformers import BertConfig, BertForSequenceClassification, Trainer, TrainingArguments

import normgeo
import normgeo.callbacks
from normgeo.callbacks import lightning, transformers
from normgeo.callbacks.scalars import scalars, write_findings

X = torch.randn(32, 5, generator=torch.Generator().manual_seed(1))
Y = torch.arange(32) % 3


def written(folder):
    events = EventAccumulator(str(folder))
    events.Reload()
    return {tag: events.Scalars(tag) for tag in events.Tags()["scalars"] if "normgeo/" in tag}


class Lit(pytorch_lightning.LightningModule):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(5, 6), nn.BatchNorm1d(6), nn.ReLU(), nn.Linear(6, 3))

    def forward(self, x):
        return self.net(x)

    def training_step(self, batch, index):
        return nn.functional.cross_entropy(self.net(batch[0]), batch[1])

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), 0.1, momentum=0.9)


def test_lightning(tmp_path):
    """8 batches, twice, of which two are accumulated: 8 steps."""
    model = Lit()
    trainer = pytorch_lightning.Trainer(
        max_epochs=2, accumulate_grad_batches=2, accelerator="cpu", enable_progress_bar=False,
        enable_model_summary=False, enable_checkpointing=False, log_every_n_steps=1,
        logger=TensorBoardLogger(tmp_path, "", ""),
        callbacks=[lightning.RecordingCallback(tmp_path / "run", batch=X)],
    )  # fmt: skip
    trainer.fit(model, DataLoader(TensorDataset(X, Y), batch_size=4))
    run = normgeo.read_recording(tmp_path / "run")
    assert [*run.steps] == [*range(9)]
    assert run.optimizer.key == "momentum"
    norms = model.net[0].weight.detach().norm(dim=1)
    np.testing.assert_allclose(run.norms[-1, :6], norms, rtol=1e-6)
    tags = written(tmp_path)
    assert "normgeo/net.0.weight/angle" in tags
    assert [event.step for event in tags["normgeo/net.0.weight/norm"]] == [4, 8]


class Sentences(Dataset):
    def __len__(self):
        return 32

    def __getitem__(self, index):
        ids = torch.arange(6) * (index + 1) % 11
        return {"input_ids": ids, "attention_mask": torch.ones(6), "labels": int(Y[index])}


def test_trainer_of_hugging_face(tmp_path):
    config = BertConfig(
        vocab_size=11, hidden_size=8, num_hidden_layers=1, num_attention_heads=2,
        intermediate_size=12, max_position_embeddings=6, num_labels=3,
    )  # fmt: skip
    model = BertForSequenceClassification(config)
    batch = {"input_ids": torch.stack([Sentences()[index]["input_ids"] for index in range(8)])}
    table = normgeo.torch.measure(model.eval(), batch)
    callback = transformers.RecordingCallback(
        tmp_path / "run", SummaryWriter(tmp_path / "board"), table=table
    )
    arguments = TrainingArguments(
        str(tmp_path / "out"), per_device_train_batch_size=4, gradient_accumulation_steps=2,
        num_train_epochs=2, report_to=[], save_strategy="no", logging_steps=4, use_cpu=True,
        disable_tqdm=True, weight_decay=0.1,
    )  # fmt: skip
    Trainer(model, arguments, train_dataset=Sentences(), callbacks=[callback]).train()
    callback.writer.close()
    run = normgeo.read_recording(tmp_path / "run")
    assert [*run.steps] == [*range(9)]
    assert run.optimizer.key == "adamw"
    place = next(i for i, name in enumerate(run.names) if name.startswith("classifier.weight"))
    assert run.decays[1, place] == pytest.approx(0.1)
    norms = model.classifier.weight.detach().norm(dim=1)
    np.testing.assert_allclose(run.norms[-1, place : place + 3], norms, rtol=1e-6)
    assert "normgeo/classifier.weight/norm" in written(tmp_path / "board")


@pytest.fixture
def recording(tmp_path):
    model = nn.Linear(5, 3)
    with normgeo.Recorder(tmp_path / "run", {"weight": "batch"}, optimizer="momentum") as recorder:
        for _ in range(6):
            recorder.step(dict(model.named_parameters()), 0.1)
            with torch.no_grad():
                model.weight += 0.1
    return tmp_path / "run"


def test_scalars_are_medians_of_the_findings(recording):
    found = normgeo.findings(normgeo.read_recording(recording))
    told = scalars(recording)
    assert told["normgeo/weight/norm"] == np.median([one.norm for one in found])
    assert told["normgeo/weight/angle"] == pytest.approx(
        np.degrees(np.median([one.angle for one in found]))
    )
    assert told["normgeo/weight/frozen"] == 0


def test_findings_reach_a_run_of_weights_and_biases(recording, tmp_path):
    with (
        wandb.init(mode="offline", dir=tmp_path, project="normgeo") as run,
        patch.object(run, "log", wraps=run.log) as log,
    ):
        write_findings(recording, run, 5)
    log.assert_called_once_with(scalars(recording), step=5)
    assert [*tmp_path.glob("wandb/offline-run-*/run-*.wandb")]


def test_other_writers_get_nothing(recording):
    write_findings(recording, None, 1)


def test_each_callback_has_at_most_forty_lines():
    folder = Path(normgeo.callbacks.__file__).parent
    names = {"lightning", "transformers", "keras"}
    classes = {name: normgeo.callbacks.__name__ + "." + name for name in names}
    for name in classes:
        source = (folder / f"{name}.py").read_text("utf-8")
        assert len(source[source.index("class ") :].splitlines()) <= 40, name
    assert inspect.isclass(lightning.RecordingCallback)
