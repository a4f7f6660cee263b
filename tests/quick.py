"""Settings at which pictures that train take a moment: for tests that need no long training."""

from typing import Any

QUICK: dict[str, dict[str, Any]] = {
    "training": {"epochs": 1, "dataset": "iris"},
    "descent": {"steps": 50},
    "learning": {"task": "rows", "rnn": "tanh", "sequences": 4},
    "longer": {"task": "rows", "rnn": "tanh", "sequences": 4},
}
