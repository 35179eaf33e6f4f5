"""Examples of figures of language models."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from seqviz.compute.gates.encoding import END
from seqviz.compute.language_models.agreement import AgreementByDistance
from seqviz.compute.language_models.amounts import BitsByAmount
from seqviz.compute.language_models.blocks import TrainedBlocks, WindowRecord
from seqviz.compute.language_models.guessing import GuessRanks
from seqviz.compute.language_models.ngrams import count, fit
from seqviz.compute.language_models.ruler import BitsPerCharacter
from seqviz.compute.language_models.sides import READERS, Judged, SideTimes, rank_gaps
from seqviz.compute.language_models.unseen import Continuations, HeldOutTexts, followers
from seqviz.compute.language_models.window import BlockSimilarity, NextWords
from seqviz.compute.language_models.word_orders import word_orders
from seqviz.figures.language_models import ruler, sides, unseen, window, written
from seqviz.figures.language_models.word_orders import order_bits
from seqviz.stats.estimate import stack
from seqviz.stats.proportions import of_share
from testing.fake import fake
from testing.figure_examples import Example, fake_example

CORPUS = (("<b>dog", "bites", "man"), ("man", "sees", "<b>dog"))
SENTENCE = ("<b>dog", "bites", "man")
NAMES = ("<unk>", "\n", "<b>new", " ", "car")
COUNTED = ("uniform", "ngram1", *(f"{name}{n}" for name in ruler.SMOOTHINGS for n in (2, 3)))
MODELS = (*COUNTED, "characters_gru", "smollm2")


def examples() -> tuple[Example, ...]:
    """Return examples of every figure function of the subject, several where it has branches."""
    smooth, raw = (word_orders(CORPUS, SENTENCE, 2, s) for s in ("witten_bell", "none"))
    none = word_orders(CORPUS, ("cat", "<i>"), 2, "none")
    impossible = fake(HeldOutTexts, shares=of_share(np.array([0.1, 0.4, 0.9]), 20))
    model = fit(count(np.array([1, 2, 3, 4, 1, 2, 4, 1]), len(NAMES), 3), "kneser_ney", 3)
    seen, missing = (followers(model, NAMES, context) for context in ([2], [3, 3]))
    nothing = followers(fit(model.counts, "none", 3), NAMES, [3, 3])
    frequent = fake(Continuations, word=4, words=("<b>york", "b", "c", "d"))
    bits = np.linspace(600, 100, len(MODELS))[:, None] * np.linspace(0.9, 1.1, 12)
    measured = BitsPerCharacter(MODELS, bits, np.full(12, 60))
    counted = BitsPerCharacter(COUNTED, bits[: len(COUNTED)], measured.characters)
    ranks, reader = (GuessRanks(np.array(row)) for row in ([3, 1, 1, 2, 1, 5], [1, 1, 2, 1, 6]))
    same = BitsPerCharacter(MODELS, np.tile(bits[:1], (len(MODELS), 1)), np.full(12, 60))
    by_amount = [BitsPerCharacter(MODELS[1:4], bits[1:4] / k, same.characters) for k in (1, 2, 3)]
    amounts = BitsByAmount(np.array([1_650, 30_000, 900_000]),
                           stack([item.all for item in by_amount]), bits[:3, :3] / 100)  # fmt: skip
    order = (0, 1, 2)
    random = np.random.RandomState(0)
    were = random.normal(0, 0.1, (4, 3, 7))
    was = np.concatenate([were[:2], were[2:] - 0.1])
    distance = AgreementByDistance(
        ("ngram", "window", "gru", "smollm2"), np.arange(3) * 3, were, was
    )
    blocks = BlockSimilarity(
        random.uniform(0, 1, 30), random.uniform(-1, 1, 90), random.randint(1, 30, 30)
    )
    trained = fake(TrainedBlocks, seed=3)
    records = [WindowRecord(update, 40, loss, tied) for tied in (False, True)
               for update, loss in ((0, np.nan), (20, 6.0), (40, 5.5))]  # fmt: skip
    chances = np.array([0.25, 0.125, 0.0625])
    read = NextWords(("<b>The", "of", "x"), np.array([False, False, True]), 1,
                     ("<unk>", "of", END), chances, "of", 2, 0.125)  # fmt: skip
    words = tuple(f"<b>{k}" for k in range(40))
    scores = random.normal(0, 1, (9, len(READERS), len(words)))
    gaps = rank_gaps(scores, words, words[:9], (1, 40, 1, 1),
                     random.uniform(0.1, 0.2, (9, len(READERS))))  # fmt: skip
    times = SideTimes(np.array([1, 4, 16]), random.uniform(0.1, 0.9, (3, 5, 3)))
    judged = Judged(("translation", "sentiment", "question", "next_word"),
                    random.uniform(1, 9, (4, 7, 2)))  # fmt: skip
    return (
        Example("orders", order_bits, (smooth, order), smooth.compared(order)["bits"]),
        Example("orders, impossible", order_bits, (raw, (2, 1, 0)), 5),
        Example("orders, none possible", order_bits, (none, (0, 1)), 2),
        Example("followers", unseen.follower_bars, (seen, impossible, 2), seen.seen),
        Example("followers, unseen", unseen.follower_bars, (missing, impossible, 3), 18),
        Example("followers, undefined", unseen.follower_bars, (nothing, impossible, 3), 18),
        Example("continuations", unseen.continuations, (frequent,), int(frequent.count[0])),
        Example("verb agreement", window.agreement_curves, (distance, 3), 7),
        Example("blocks of a window", window.cosines_of_positions, (blocks, trained),
                blocks.same.mean()),
        Example("blocks in training", window.losses_so_far, (records,), 40),
        Example("next words", window.next_word_bars, (read,), read.rank),
        Example("next words, the end far down", window.next_word_bars,
                (replace(read, following=END, rank=812, p_following=0.004),), 812),
        fake_example("copying", written.copied_spans, lambda result: result.spans[-1].mean,
                     2, case=4, text=9),
        Example("gaps", sides.gap_ranks, (gaps, READERS[:3], "whole"), gaps.rank.shape[1]),
        Example("gaps, shuffled", sides.gap_ranks, (gaps, READERS, "shuffled"), 40),
        Example("times of sides", sides.times_by_length, (times, 4), times.at(4)["write"]),
        Example("continuations chosen", sides.continuation_choice,
                (judged, "question", ("<b>yes", "no"), (3.5, 6.25)), 3.5),
        Example("ruler", ruler.bits_by_model, (measured, "smollm2", "characters_gru"),
                measured.of("smollm2").mean),
        Example("sentence to guess", ruler.bits_of_sentence, (measured, 3, ranks, None),
                measured.bits[-1, 3] / 60),
        Example("sentence guessed", ruler.bits_of_sentence, (measured, 3, ranks, reader),
                reader.upper),
        Example("ruler of a text", ruler.bits_of_sentence, (measured, 3),
                measured.bits[-1, 3] / 60),
        Example("ruler by amount", ruler.bits_by_training_text, (amounts, 2),
                amounts.held[-1, 1].mean),
        Example("ruler, more", ruler.bits_by_model, (measured, "kneser_ney3", "smollm2"),
                measured.of("kneser_ney3").mean),
        Example("ruler, counted only", ruler.bits_by_model, (counted, "ngram1", "witten_bell3"),
                counted.of("ngram1").mean),
        Example("ruler, null", ruler.bits_by_model, (same, "uniform", "ngram1"),
                same.of("ngram1").mean),
    )  # fmt: skip
