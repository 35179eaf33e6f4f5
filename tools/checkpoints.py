"""Training helpers, and writing of trained networks with their cards to assets/checkpoints."""

from __future__ import annotations

import argparse
import datetime
import hashlib
import json
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import torch
from safetensors.numpy import save

from seqviz.compute.gates.networks import GatedNetwork
from seqviz.compute.recurrent import RecurrentWeights
from seqviz.core.atomic_write import atomic_write, atomic_write_many
from seqviz.models import checkpoints

FOLDER = checkpoints.FOLDER
LIMIT = 5_000_000  # bytes


def asked(about: str | None, **defaults: float) -> argparse.Namespace:
    """Parse the command line: the cell to train, and settings with defaults.

    Args:
        about: description of the command.
        **defaults: default of each setting.
    """
    parser = argparse.ArgumentParser(description=about)
    parser.add_argument("--cell", choices=("lstm", "gru"), required=True)
    for name, default in defaults.items():
        parser.add_argument(f"--{name}", type=type(default), default=default)
    torch.set_num_threads(1)
    return parser.parse_args()


def batches(lengths: np.ndarray, size: int, random: np.random.RandomState) -> list[np.ndarray]:
    """Return random batches of sentences of similar length, with a quarter of the padding.

    Args:
        lengths: length of each sentence.
        size: sentences per batch.
        random: source of randomness.
    """
    mixed = random.permutation(len(lengths))
    blocks = [mixed[i : i + 50 * size] for i in range(0, len(mixed), 50 * size)]
    order = np.concatenate([block[np.argsort(lengths[block])] for block in blocks])
    cut = [order[i : i + size] for i in range(0, len(order), size)]
    return [cut[i] for i in random.permutation(len(cut))]


class Reader(torch.nn.Module):
    """Recurrent network: embedding, one recurrent layer, linear read-out at every step."""

    def __init__(self, cell: str, symbols: int, width: int, hidden: int, answers: int) -> None:
        super().__init__()
        self.embedding = torch.nn.Embedding(symbols, width)
        kind = torch.nn.LSTM if cell == "lstm" else torch.nn.GRU
        self.layer = kind(width, hidden)
        self.head = torch.nn.Linear(hidden, answers)


def write(
    name: str, cell: str, kind: str, symbols: list[str], model: Reader, card: dict[str, Any]
) -> None:
    """Write a trained torch model with `write_network`, its arrays in PyTorch's layout.

    Args:
        name: name of the network.
        cell: "lstm" or "gru".
        kind: task of the network.
        symbols: vocabulary.
        model: the model.
        card: data, license, settings and metrics.
    """

    def array(tensor: torch.Tensor) -> np.ndarray:
        return tensor.detach().numpy()

    weights = RecurrentWeights(*map(array, model.layer.parameters()))
    head = array(model.head.weight), array(model.head.bias)
    embedding = array(model.embedding.weight)
    write_network(GatedNetwork(name, cell, kind, tuple(symbols), embedding, weights, *head), card)


def remeasure(name: str, **parts: dict[str, Any]) -> None:
    """Replace numbers in the card of an existing network.

    Args:
        name: name of the network.
        **parts: new values by section of the card: metric, baseline.
    """
    path = FOLDER / f"{name}.json"
    card = json.loads(path.read_text("utf-8"))
    for part, values in parts.items():
        card[part] |= values
    with atomic_write(path) as created:
        created.write_text(json.dumps(card, indent=1, ensure_ascii=False) + "\n", "utf-8")


def write_network(network: GatedNetwork, card: dict[str, Any]) -> None:
    """Write a recurrent network in float32, with its card.

    Args:
        network: the network.
        card: data, license, settings and metrics.
    """
    about = {"cell": network.cell, "kind": network.kind}
    full = {**about, **card, "parameters": network.parameters}
    arrays = checkpoints.arrays(network)
    write_arrays(network.name, arrays, about, network.symbols, full, np.float32)


def write_arrays(
    name: str, arrays: Mapping[str, np.ndarray], about: Mapping[str, str],
    symbols: Sequence[str], card: dict[str, Any], dtype: type[np.floating],
) -> None:  # fmt: skip
    """Write `<name>.safetensors` and the card with its checksum, `<name>.json`.

    Args:
        name: name of the network.
        arrays: its arrays by name.
        about: entries of the file's header.
        symbols: vocabulary, another entry.
        card: data, license, settings, metrics and number of parameters.
        dtype: precision of the arrays in the file.

    Raises:
        ValueError: the file exceeds `LIMIT`.
    """
    rounded = {key: np.ascontiguousarray(value, dtype) for key, value in arrays.items()}
    content = save(rounded, {**about, "symbols": json.dumps(symbols)})
    if len(content) > LIMIT:
        raise ValueError(f"{name} has {len(content):,} bytes, more than {LIMIT:,}.")
    FOLDER.mkdir(exist_ok=True)
    full = {
        "name": name,
        **card,
        "torch": torch.__version__,
        "date": datetime.datetime.now(datetime.UTC).date().isoformat(),
        "sha256": hashlib.sha256(content).hexdigest(),
    }
    text = json.dumps(full, indent=1, ensure_ascii=False)
    path = FOLDER / f"{name}.safetensors"
    with atomic_write_many(path, path.with_suffix(".json")) as (arrays_made, card_made):
        arrays_made.write_bytes(content)
        card_made.write_text(text + "\n", "utf-8")
    print(f"{name}: {len(content):,} bytes")
