"""Vectors of a word in two sentences, before and after each layer of an encoder."""

from __future__ import annotations

from typing import Any

import numpy as np
from jaxtyping import Float

from seqviz.compute.attention.tokens import Tokens
from seqviz.compute.text.vectors.senses import Layers, SensePairs
from seqviz.core.errors import UserError
from seqviz.data import word_lists
from seqviz.data.reviews import sentiment_split
from seqviz.experiments.text.vectors.tables import words_of
from seqviz.jobs import Report, no_progress
from seqviz.models import attention_hook, texts
from seqviz.models.forward_cache import run_network
from seqviz.models.pretrained import Pretrained, load

RANDOM = 200  # pairs of two words
_BAND = (2.5, 50.0, 97.5)


def two_readings(model: str, word: str, first: texts.ModelText, second: texts.ModelText) -> Layers:
    """Return the cosines of a word's vectors at its first occurrence in two texts.

    Args:
        model: name of the encoder.
        word: the word.
        first: a text.
        second: another text.

    Raises:
        UserError: "word_not_there" if a text lacks it; "no_word"; errors of `load` and
            `texts.tokens`.
    """
    pretrained = load(model)
    request = words_of(word, 1)[0]
    vectors: list[Any] = []
    pieces: tuple[str, ...] = ()
    for text in (first, second):
        tokens = texts.tokens(pretrained, text)
        positions = _places(pretrained, tokens, request)
        pieces = tuple(tokens.pieces[at] for at in positions)
        vectors.append(_levels(pretrained, tokens, positions))
    return Layers(request, pieces, _cosines(*vectors))


def sense_pairs(model: str, report: Report = no_progress) -> SensePairs:
    """Measure the bundled ambiguous words, and random word pairs from film reviews (a job).

    A random pair is two different words of at least two letters and one token each, from two
    sentences of the test set.

    Args:
        model: name of the encoder.
        report: progress callback; receives the share done.

    Raises:
        UserError: errors of `load`.
    """
    pretrained, retained = load(model), word_lists.two_senses()
    other, same = [], []  # cosines of the word at each level, then of the bag of other words
    for done, item in enumerate(retained):
        (a, b), (c, d) = (
            [_vectors(pretrained, item.word, text) for text in pair]
            for pair in (item.first, item.second)
        )
        other += [_cosines(a, c), _cosines(b, d)]
        same += [_cosines(a, b), _cosines(c, d)]
        report((done + 1) / (len(retained) + 40), (done + 1) / (len(retained) + 40))
    random = np.percentile(_random_pairs(pretrained), _BAND, axis=0)
    report(1.0, 1.0)
    two, one_sense = _hundredths(other), _hundredths(same)
    bags = np.stack([two[:, -1], one_sense[:, -1]])
    return SensePairs(
        tuple(entry.word for entry in retained),
        two[:, :-1],
        one_sense[:, :-1],
        random,
        RANDOM,
        bags,
    )


def _hundredths(rows: list[Float[np.ndarray, "level"]]) -> Any:
    return np.round(100 * np.array(rows)).astype(int)


def _random_pairs(pretrained: Pretrained) -> Float[np.ndarray, "pair level"]:
    draws = np.random.RandomState(0)
    results: list[Float[np.ndarray, "level"]] = []
    sentences = sentiment_split()[1].texts
    while len(results) < RANDOM:
        picked = []
        for at in draws.randint(len(sentences), size=2):
            tokens = texts.tokens(pretrained, sentences[at])
            full = [
                index for index in range(1, len(tokens.ids) - 1)
                if tokens.pieces[index].isalpha() and len(tokens.pieces[index]) > 1
                and not tokens.pieces[index + 1].startswith("##")
            ]  # fmt: skip
            if full:
                picked.append((tokens, full[draws.randint(len(full))]))
        if len(picked) == 2 and len({int(tokens.ids[at]) for tokens, at in picked}) == 2:
            results.append(_cosines(*(_levels(pretrained, tokens, [at]) for tokens, at in picked)))
    return np.array(results)


def _vectors(pretrained: Pretrained, word: str, text: str) -> Float[np.ndarray, "level dimension"]:
    """Return the vectors at each level, and last the mean embedding of the text's other tokens."""
    tokens = texts.tokens(pretrained, text)
    positions = _places(pretrained, tokens, word)
    others = np.setdiff1d(np.flatnonzero(tokens.real & ~tokens.special), positions).tolist()
    bag = _levels(pretrained, tokens, others)[:1]
    return np.concatenate([_levels(pretrained, tokens, positions), bag])


def _places(pretrained: Pretrained, tokens: Tokens, word: str) -> list[int]:
    """Return the positions of the pieces of a word at its first occurrence as a whole word."""
    with pretrained.lock:
        ids = pretrained.tokenizer(word, add_special_tokens=False, verbose=False)["input_ids"]
    count, existing = len(ids), tokens.ids.tolist()
    for at in range(1, len(existing) - count):
        begins = not tokens.pieces[at].startswith("##")
        if begins and existing[at : at + count] == ids and tokens.pieces[at + count][:2] != "##":
            return list(range(at, at + count))
    raise UserError(
        "word_not_there", f"“{word}” must stand in both sentences, in this form.", word=word
    )


def _levels(
    pretrained: Pretrained, tokens: Tokens, positions: list[int]
) -> Float[np.ndarray, "level dimension"]:
    """Return the mean over positions in the embedding, after the input and after each layer."""
    import torch

    def work(network: Any, device: str) -> Any:
        with attention_hook.hooked(attention_hook.AttentionHook(note=False)):
            output = run_network(
                network, pretrained, tokens.ids[None], tokens.segments[None], device, hidden=True
            )
        rows = network.get_input_embeddings()(torch.tensor(tokens.ids[positions], device=device))
        layers = [layer[0, positions] for layer in output.hidden_states]
        return torch.stack([rows, *layers]).mean(1).double().cpu().numpy()

    return np.asarray(pretrained.run(work))


def _cosines(
    left: Float[np.ndarray, "level dimension"], right: Float[np.ndarray, "level dimension"]
) -> Float[np.ndarray, "level"]:
    norms = np.linalg.norm(left, axis=1) * np.linalg.norm(right, axis=1)
    return np.asarray((left * right).sum(1) / np.where(norms > 0, norms, 1))
