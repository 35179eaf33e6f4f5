"""Self-attention with four readable features a word and two heads set by hand: `walk_features`."""

from __future__ import annotations

import numpy as np
from jaxtyping import Float

from seqviz.compute.attention.walkthrough import AttentionWalkthrough, Roles, attend_with

FEATURES = ("animal", "thing", "verb", "pronoun")
WORD_FEATURES = {
    "an": (), "animal": ("animal",), "crossed": ("verb",), "the": (), "street": ("thing",),
    "because": (), "it": ("pronoun",), "hurried": ("verb",),
}  # fmt: skip
WORDS = tuple(WORD_FEATURES)
HEADS: tuple[dict[str, dict[str, int]], ...] = (
    {"pronoun": {"animal": 6, "thing": 2}},  # a pronoun looks for an animal, or else for a thing
    {"verb": {"animal": 6, "pronoun": 6}},  # a verb looks for its subject
)
"""By head and feature of the word that looks: the features it looks for, and how strongly."""


def walk_features(
    scale: str = "d_k", temperature: float = 1.0, operator: str = "add", causal: bool = False
) -> AttentionWalkthrough:
    """Compute self-attention on eight words whose features are 0 or 1, with the heads `HEADS`.

    Keys and values are the features themselves. The last matrix adds the outputs of the two heads.

    Args:
        scale: as in `scaled.divisor`.
        temperature: as in `scaled.attend`.
        operator: as in `scaled.attend`.
        causal: True where a word attends to itself and to earlier ones only.
    """
    d, n = len(FEATURES), len(HEADS)
    embeddings = np.array(
        [[name in kinds for name in FEATURES] for kinds in WORD_FEATURES.values()], np.float32
    )
    same = np.eye(d, dtype=np.float32)
    weights = Roles(np.stack([_look(head) for head in HEADS]), *(np.stack([same] * n),) * 2)
    vectors = Roles(*(embeddings @ part for part in vars(weights).values()))
    output = np.concatenate([same] * n), np.zeros(d, np.float32)
    return attend_with(
        WORDS, np.argsort(np.argsort(WORDS)), embeddings, weights, vectors, output,
        scale, temperature, operator, causal, features=FEATURES, origin="set",
    )  # fmt: skip


def _look(head: dict[str, dict[str, int]]) -> Float[np.ndarray, "feature feature"]:
    """Return the matrix that turns the features of a word into those that it looks for."""
    return np.array(
        [[head.get(of, {}).get(name, 0) for name in FEATURES] for of in FEATURES], np.float32
    )
