"""LAC on a text: complete, with one side of each character ablated, with other decoders."""

from __future__ import annotations

from functools import cache
from typing import Annotated, Any

import numpy as np
from jaxtyping import Float, Int

from seqviz.compute.attention.scaled import softmax
from seqviz.compute.recurrent.tagging.lac import (
    DECODERS,
    SIDES,
    WAYS,
    Lac,
    TagChanges,
    TagSequence,
    broken,
)
from seqviz.core.errors import UserError
from seqviz.jobs import Report, no_progress
from seqviz.models.pretrained import load
from seqviz.models.texts import ReadBy

MAX_SENTENCE_CHARS = 30  # characters of a user's sentence


def _characters_read(_: Any, text: str) -> int:
    return min(len(text), MAX_SENTENCE_CHARS)


Characters = Annotated[str, ReadBy("text", _characters_read)]


def tagged(text: Characters, decoder: str = "viterbi") -> TagSequence:
    """Return a text with the tags of the complete network.

    Args:
        text: the text.
        decoder: of `DECODERS`: the best tag sequence, or each character's most probable tag by the
            CRF ("marginal") or by the network alone.

    Raises:
        UserError: "empty_text"; errors of `load`.
    """
    return _tagged(text, decoder)


def without(text: Characters, side: str, direction: str) -> TagSequence:
    """Return the best tag sequence of a text whose characters do not see one side.

    Args:
        text: the text.
        side: the hidden side, "right" or "left".
        direction: "deleted", where a character is tagged in the text that ends (or begins) with it;
            "mean" or "zero", where the states from that side are replaced, in both layers, by their
            mean over the sentences of the package or by zero.

    Raises:
        UserError: "empty_text"; errors of `load`.
    """
    return _tagged(text, "viterbi", side, direction)


def lac_changes(report: Report = no_progress) -> TagChanges:
    """Count the tags that change on the test sentences of the package (a job)."""
    network = _network()
    lengths = np.array([len(sentence) for sentence in network.sentences])
    cut = np.zeros((len(WAYS), len(SIDES), len(lengths)), int)
    decoded, torn = np.zeros((2, len(DECODERS), len(lengths)), int)
    paths = []
    for k, text in enumerate(network.sentences):
        full = _tagged(text, "viterbi")
        paths.append(full.path)
        for d, decoder in enumerate(DECODERS):
            path = decode(network, full.emissions, decoder)
            decoded[d, k] = (path != full.path).sum()
            torn[d, k] = broken(path, network.tags).sum()
        for w, direction in enumerate(WAYS):
            for s, side in enumerate(SIDES):
                path = _tagged(text, "viterbi", side, direction).path
                cut[w, s, k] = (path != full.path).sum()
        report((k + 1) / len(lengths), (k + 1) / len(lengths))
    common = np.bincount(np.concatenate(paths)).argmax()
    constant = np.array([(path != common).sum() for path in paths])
    return TagChanges(lengths, cut, decoded, torn, constant, network.tags[common])


def decode(
    network: Lac, emissions: Float[np.ndarray, "time tags"], decoder: str
) -> Int[np.ndarray, "time"]:
    """Return the tags by one of `DECODERS`.

    Args:
        network: the network.
        emissions: scores of the tags.
        decoder: one of `DECODERS`.
    """
    if decoder == "viterbi":
        return network.crf.viterbi(emissions)
    shares = network.crf.marginals(emissions) if decoder == "marginal" else softmax(emissions)
    return np.asarray(shares.argmax(-1))


def _network() -> Lac:
    lac: Lac = load("lac").network
    return lac


def _tagged(text: str, decoder: str, side: str = "", direction: str = "") -> TagSequence:
    network = _network()
    text = text.encode("utf-8", "replace").decode().strip()
    if not text:
        raise UserError("empty_text", "There is nothing to read yet: write a word or two.")
    rows = network.rows(text)
    length = len(rows)
    if direction == "deleted":
        # in row t the text ends, or begins, with character t
        real = np.tri(length, dtype=bool) if side == "right" else ~np.tri(length, k=-1, dtype=bool)
        positions = np.arange(length)
        states = tuple(layer[positions, positions] for layer in network.states(rows, real))
    else:
        value = _means() if direction == "mean" else None
        all_read = np.ones((1, length), bool)
        states = tuple(layer[0] for layer in network.states(rows, all_read, side, value))
    emissions = network.emissions(states[-1])
    path = decode(network, emissions, decoder)
    shares = np.stack([softmax(emissions), network.crf.marginals(emissions)])
    unknown = int((rows == network.unknown).sum())
    return TagSequence(text, network.tags, np.stack(states), emissions, shares, path, unknown)


@cache
def _means() -> Float[np.ndarray, "layers features"]:
    """Return the mean state of each layer over all characters of the package's sentences."""
    results = [_tagged(text, "emission").states for text in _network().sentences]
    return np.asarray(np.concatenate(results, 1).mean(1))
