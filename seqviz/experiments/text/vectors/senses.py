"""A word in two sentences, read by an encoder: its vectors before and after each layer."""

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
    """The cosine of a word's vectors in two texts, where it stands first in each.

    Raises UserError("word_not_there") where a text lacks it, "no_word", and what `load` and
    `texts.tokens` raise.
    """
    pretrained = load(model)
    asked = words_of(word, 1)[0]
    vectors: list[Any] = []
    pieces: tuple[str, ...] = ()
    for text in (first, second):
        tokens = texts.tokens(pretrained, text)
        places = _places(pretrained, tokens, asked)
        pieces = tuple(tokens.pieces[at] for at in places)
        vectors.append(_levels(pretrained, tokens, places))
    return Layers(asked, pieces, _cosines(*vectors))


def sense_pairs(model: str, report: Report = no_progress, device: str = "cpu") -> SensePairs:
    """A job: the bundled words of two senses, and random pairs of words from film reviews.

    A random pair is two different words of two letters or more that are one token each, from two
    sentences of the test set. (`device` names the queue.) Raises what `load` raises.
    """
    pretrained, kept = load(model), word_lists.two_senses()
    other, same = [], []  # of the word at each level, and last of the bags of the other words
    for done, one in enumerate(kept):
        (a, b), (c, d) = (
            [_vectors(pretrained, one.word, text) for text in pair]
            for pair in (one.first, one.second)
        )
        other += [_cosines(a, c), _cosines(b, d)]
        same += [_cosines(a, b), _cosines(c, d)]
        report((done + 1) / (len(kept) + 40), (done + 1) / (len(kept) + 40))
    random = np.percentile(_random_pairs(pretrained), _BAND, axis=0)
    report(1.0, 1.0)
    two, one_sense = _hundredths(other), _hundredths(same)
    bags = np.stack([two[:, -1], one_sense[:, -1]])
    return SensePairs(
        tuple(one.word for one in kept), two[:, :-1], one_sense[:, :-1], random, RANDOM, bags
    )


def _hundredths(rows: list[Float[np.ndarray, "level"]]) -> Any:
    return np.round(100 * np.array(rows)).astype(int)


def _random_pairs(pretrained: Pretrained) -> Float[np.ndarray, "pair level"]:
    draws = np.random.RandomState(0)
    found: list[Float[np.ndarray, "level"]] = []
    sentences = sentiment_split()[1].texts
    while len(found) < RANDOM:
        picked = []
        for at in draws.randint(len(sentences), size=2):
            tokens = texts.tokens(pretrained, sentences[at])
            whole = [
                place for place in range(1, len(tokens.ids) - 1)
                if tokens.pieces[place].isalpha() and len(tokens.pieces[place]) > 1
                and not tokens.pieces[place + 1].startswith("##")
            ]  # fmt: skip
            if whole:
                picked.append((tokens, whole[draws.randint(len(whole))]))
        if len(picked) == 2 and len({int(tokens.ids[at]) for tokens, at in picked}) == 2:
            found.append(_cosines(*(_levels(pretrained, tokens, [at]) for tokens, at in picked)))
    return np.array(found)


def _vectors(pretrained: Pretrained, word: str, text: str) -> Float[np.ndarray, "level dimension"]:
    """At each level, and last the mean row of the table of the text's other tokens."""
    tokens = texts.tokens(pretrained, text)
    places = _places(pretrained, tokens, word)
    others = np.setdiff1d(np.flatnonzero(tokens.real & ~tokens.special), places).tolist()
    bag = _levels(pretrained, tokens, others)[:1]
    return np.concatenate([_levels(pretrained, tokens, places), bag])


def _places(pretrained: Pretrained, tokens: Tokens, word: str) -> list[int]:
    """Where the pieces of a word stand first as a whole word. Raises
    UserError("word_not_there")."""
    with pretrained.lock:
        ids = pretrained.tokenizer(word, add_special_tokens=False, verbose=False)["input_ids"]
    count, known = len(ids), tokens.ids.tolist()
    for at in range(1, len(known) - count):
        begins = not tokens.pieces[at].startswith("##")
        if begins and known[at : at + count] == ids and tokens.pieces[at + count][:2] != "##":
            return list(range(at, at + count))
    raise UserError(
        "word_not_there", f"“{word}” must stand in both sentences, in this form.", word=word
    )


def _levels(
    pretrained: Pretrained, tokens: Tokens, places: list[int]
) -> Float[np.ndarray, "level dimension"]:
    """The mean over some places: in the table, behind the input, behind each layer."""
    import torch

    def work(network: Any, device: str) -> Any:
        with attention_hook.hooked(attention_hook.AttentionHook(note=False)):
            output = run_network(
                network, pretrained, tokens.ids[None], tokens.segments[None], device, hidden=True
            )
        rows = network.get_input_embeddings()(torch.tensor(tokens.ids[places], device=device))
        layers = [layer[0, places] for layer in output.hidden_states]
        return torch.stack([rows, *layers]).mean(1).double().cpu().numpy()

    return np.asarray(pretrained.run(work))


def _cosines(
    one: Float[np.ndarray, "level dimension"], other: Float[np.ndarray, "level dimension"]
) -> Float[np.ndarray, "level"]:
    norms = np.linalg.norm(one, axis=1) * np.linalg.norm(other, axis=1)
    return np.asarray((one * other).sum(1) / np.where(norms > 0, norms, 1))
