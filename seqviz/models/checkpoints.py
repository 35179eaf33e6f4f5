"""The small networks that come with the app: arrays in assets/checkpoints, a card beside each."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from functools import cache

import numpy as np

from seqviz.compute.gates.networks import GatedNetwork
from seqviz.compute.recurrent import RecurrentWeights
from seqviz.core.errors import damaged
from seqviz.core.paths import ASSETS

FOLDER = ASSETS / "checkpoints"
_WEIGHTS = ("input_hidden", "hidden_hidden", "input_bias", "hidden_bias")  # in a file


@dataclass(frozen=True)
class Card:
    """What a network is: data, metric beside a baseline, how and when it was trained.

    twice_as_long: the tiny tasks' accuracy on sequences twice as long as in training, else None.
    baseline_twice: of the baseline there. whole_twice: sequences of that length without a wrong
    answer. five_gram: a second baseline of the character models, else None. alone, five_gram_alone:
    both when each sentence is read by itself, as a page reads, not as one continuous text.
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
    """All recurrent networks, by name; the folder also has what other lessons need.

    One of which only the card or only the arrays are left is among them: `load` says so.
    """
    result = {path.stem for path in FOLDER.glob("*.*") if path.suffix in (".json", ".safetensors")}
    return tuple(sorted(name for name in result if name.endswith(("_gru", "_lstm"))))


@cache
def card(name: str) -> Card:
    """The card of a network. Raises UserError("damaged") when it is missing or cannot be read."""
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
    """A network by its name, one object for the whole process; its arrays are read-only.

    Raises ValueError for an unknown name, and UserError("damaged") when the file is not the one
    that its card describes.
    """
    if name not in names():
        raise ValueError(f"Unknown network: {name}. Known: {', '.join(names())}.")
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


def arrays(network: GatedNetwork) -> dict[str, np.ndarray]:
    """The arrays of a network under the names that the file has for them."""
    return {
        "embedding": network.embedding,
        **{part: getattr(network.weights, part) for part in _WEIGHTS},
        "head": network.head,
        "head_bias": network.head_bias,
    }
