"""Settings for pictures that train, so that tests take only a moment."""

from typing import Any

QUICK: dict[str, dict[str, Any]] = {
    "training": {"epochs": 1, "dataset": "iris"},
    "descent": {"steps": 50},
    "learning": {"task": "rows", "rnn": "tanh", "sequences": 4},
    "longer": {"task": "rows", "rnn": "tanh", "sequences": 4},
}
