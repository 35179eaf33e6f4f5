"""Small networks shipped with the app: arrays in `assets/checkpoints`, each with a card.

Entry points: `load`, `load_window` and `card`.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from functools import cache

import numpy as np

from seqviz.compute.gates.networks import GatedNetwork
from seqviz.compute.language_models.window import WindowNetwork
from seqviz.compute.recurrent import RecurrentWeights
from seqviz.core.errors import damaged
from seqviz.core.paths import ASSETS

FOLDER = ASSETS / "checkpoints"
_WEIGHTS = ("input_hidden", "hidden_hidden", "input_bias", "hidden_bias")  # names in a file
WINDOW = "window_words"
WINDOW_ARRAYS = ("embedding", "blocks", "gains", "bias", "output", "output_bias")


@dataclass(frozen=True)
class Card:
    """Metadata of a shipped network: data, metric and baseline, training script and date.

    Attributes:
        name: name of the network and stem of its files.
        data: training data.
        license: license of the data.
        metric: name of the metric.
        value: metric of the network.
        baseline: name of the baseline.
        baseline_value: metric of the baseline.
        parameters: number of parameters.
        script: the training script.
        date: date of the training.
        sha256: checksum of the file of arrays.
        twice_as_long: accuracy on sequences twice as long as in training (tiny tasks), else None.
        five_gram: metric of a second baseline, a 5-gram model (character models), else None.
        baseline_twice: accuracy of the baseline on sequences twice as long, else None.
        whole_twice: share of such sequences without any wrong answer, else None.
        alone: metric with each sentence read separately, as a page does, not as one text; else
            None.
        five_gram_alone: that metric of the 5-gram baseline, else None.
    """

    name: str
    data: str
    license: str
    metric: str
    value: float
    baseline: str
    baseline_value: float
    parameters: int
    script: str
    date: str
    sha256: str
    twice_as_long: float | None
    five_gram: float | None
    baseline_twice: float | None
    whole_twice: float | None
    alone: float | None
    five_gram_alone: float | None


def names() -> tuple[str, ...]:
    """Return the names of all recurrent networks, sorted.

    The folder also has files of other lessons. A network with only its card or only its arrays is
    included; `load` reports it as damaged.
    """
    result = {path.stem for path in FOLDER.glob("*.*") if path.suffix in (".json", ".safetensors")}
    return tuple(sorted(name for name in result if name.endswith(("_gru", "_lstm"))))


@cache
def card(name: str) -> Card:
    """Return the card of a network; raise UserError("damaged") for a missing or unreadable card."""
    path = FOLDER / f"{name}.json"
    try:
        raw = json.loads(path.read_text("utf-8"))
        metric, baseline = raw["metric"], raw["baseline"]
        return Card(
            raw["name"],
            raw["data"],
            raw["license"],
            metric["name"],
            metric["value"],
            baseline["name"],
            baseline["value"],
            raw["parameters"],
            raw["script"],
            raw["date"],
            raw["sha256"],
            metric.get("twice_as_long"),
            baseline.get("five_gram"),
            baseline.get("twice_as_long"),
            metric.get("whole_twice_as_long"),
            metric.get("sentence_by_sentence"),
            baseline.get("five_gram_sentence_by_sentence"),
        )
    except (OSError, ValueError, KeyError, TypeError):
        raise damaged(path) from None


@cache
def load(name: str) -> GatedNetwork:
    """Return a network by name: one object per process, with read-only arrays.

    Raises:
        ValueError: for an unknown name.
        UserError: "damaged" if the file does not match the checksum of its card.
    """
    if name not in names():
        raise ValueError(f"Unknown network: {name}. Known: {', '.join(names())}.")
    header, result = _read(name)
    weights = RecurrentWeights(*(result[part] for part in _WEIGHTS))
    return GatedNetwork(
        name,
        header["cell"],
        header["kind"],
        tuple(json.loads(header["symbols"])),
        result["embedding"],
        weights,
        result["head"],
        result["head_bias"],
    )


@cache
def load_window() -> WindowNetwork:
    """Return the network that reads a window of words; its file is in half precision.

    Raises:
        UserError: "damaged" if the file does not match the checksum of its card.
    """
    header, result = _read(WINDOW)
    single = {part: result[part].astype(np.float32) for part in WINDOW_ARRAYS}
    for array in single.values():
        array.flags.writeable = False
    return WindowNetwork(tuple(json.loads(header["symbols"])), **single)


def _read(name: str) -> tuple[dict[str, str], dict[str, np.ndarray]]:
    """Return header and read-only arrays of a network's file, or raise UserError("damaged")."""
    from safetensors import safe_open

    path = FOLDER / f"{name}.safetensors"
    try:
        found_here = hashlib.sha256(path.read_bytes()).hexdigest()
    except OSError:
        raise damaged(path) from None
    if found_here != card(name).sha256:
        raise damaged(path)
    with safe_open(path, framework="numpy") as file:
        header = file.metadata()
        result = {key: file.get_tensor(key) for key in file.keys()}  # noqa: SIM118 (no mapping)
    for array in result.values():
        array.flags.writeable = False
    return header, result


def arrays(network: GatedNetwork) -> dict[str, np.ndarray]:
    """Return the arrays of a network by their names in the file."""
    return {
        "embedding": network.embedding,
        **{part: getattr(network.weights, part) for part in _WEIGHTS},
        "head": network.head,
        "head_bias": network.head_bias,
    }
