"""Counts, networks and texts made of seeded numbers, and every figure drawn of them."""

from __future__ import annotations

import numpy as np

from seqviz.compute.recurrent.tagging.letters import TAGS, TaggedText, boundaries, without_spaces
from seqviz.compute.recurrent.tagging.letters_compared import Compared, TrainedAhead
from seqviz.figures.recurrent.tagging.letters import (
    errors_ahead,
    errors_by_wiring,
    losses_so_far,
    tagged_text,
    trained_so_far,
)
from testing.figure_examples import Example


def examples() -> tuple[Example, ...]:
    """Each figure function once or more, where its branches differ."""
    english, chinese = compared_of("spaces"), compared_of("words")
    ahead = ahead_of(english)
    typed, read = text_of("spaces", "I saw <b>Anna</b> & New York."), text_of("words", "我打车去")
    curves = ((2.0, 1.0, 0.5), (1.5,))
    return (
        Example("English by wiring", errors_by_wiring, (english,), english.error("uni").value),
        Example("Chinese by wiring", errors_by_wiring, (chinese,), chinese.error("bi").value),
        Example("ahead", errors_ahead, (english, ahead, 1), ahead.error(1).value),
        Example("English text", tagged_text, (typed, 1, 2), typed.n_letters),
        Example("Chinese text", tagged_text, (read, 2, 4), read.n_letters),
        Example("training", losses_so_far, ((curves[:1], curves),), 1.5),
        Example("networks so far", trained_so_far, (((2, 15), (3, 15)),), 3),
    )


def compared_of(task: str, sentences: int = 8, seeds: int = 3) -> Compared:
    """Counts as of a network that is the better the more it reads."""
    random = np.random.RandomState(0)
    characters = random.randint(0, 30, size=(len(TAGS), sentences))
    characters[:, 0] = 10  # no tag without a letter

    def wrong(share: float, *shape: int) -> np.ndarray:
        return random.binomial(characters, share, size=(*shape, len(TAGS), sentences))

    by_wiring = np.stack([wrong(share, seeds) for share in (0.4, 0.38, 0.1)])
    cut = np.stack([wrong(share, seeds) for share in (0.5, 0.2, 0.12)])
    return Compared(
        task, characters, by_wiring, wrong(0.8), wrong(0.6), np.array([0, 1, 5]), cut,
        np.array([9, 6, 6]), np.array([1000, 1005, 998]), np.full((3, seeds), 12.5),
    )  # fmt: skip


def ahead_of(compared: Compared) -> TrainedAhead:
    """Counts as of networks that learned with so many signs: fewer errors than those cut."""
    wrong = compared.cut * 3 // 4
    return TrainedAhead(compared.task, compared.letters, compared.ahead, wrong,
                        np.full(wrong.shape[:2], 20.0))  # fmt: skip


def text_of(task: str, text: str) -> TaggedText:
    """A text with seeded probabilities; the Chinese one in words of two characters."""
    english = task == "spaces"
    tagged_example = (
        without_spaces(text) if english else boundaries(text, lambda item: (item[:2], item[2:]))
    )
    random = np.random.RandomState(1)
    likely = random.dirichlet(np.ones(len(TAGS)), size=(3, len(tagged_example.symbols)))
    return TaggedText(task, tagged_example.symbols, tagged_example.tags, likely, 1)
