"""Examples of figures of language models."""

from __future__ import annotations

import numpy as np

from seqviz.compute.language_models.agreement import AgreementByDistance
from seqviz.compute.language_models.ngrams import count, fit
from seqviz.compute.language_models.ruler import BitsPerCharacter
from seqviz.compute.language_models.unseen import Continuations, ImpossibleTexts, followers
from seqviz.compute.language_models.window import BlockSimilarity
from seqviz.compute.language_models.word_orders import word_orders
from seqviz.figures.language_models import ruler, unseen, window, written
from seqviz.figures.language_models.word_orders import order_bits
from seqviz.stats.proportions import of_share
from testing.fake import fake
from testing.figure_examples import Example, fake_example

CORPUS = (("<b>dog", "bites", "man"), ("man", "sees", "<b>dog"))
SENTENCE = ("<b>dog", "bites", "man")
NAMES = ("<unk>", "\n", "<b>new", " ", "car")
MODELS = ("uniform", "ngram1", "witten_bell2", "kneser_ney3", "modified_kneser_ney6",
          "characters_gru", "characters_lstm", "smollm2")  # fmt: skip


def examples() -> tuple[Example, ...]:
    """Return examples of every figure function of the subject, several where it has branches."""
    smooth, raw = (word_orders(CORPUS, SENTENCE, 2, s) for s in ("witten_bell", "none"))
    none = word_orders(CORPUS, ("cat", "<i>"), 2, "none")
    impossible = ImpossibleTexts(of_share(np.array([0.1, 0.4, 0.9]), 20))
    model = fit(count(np.array([1, 2, 3, 4, 1, 2, 4, 1]), len(NAMES), 3), "kneser_ney", 3)
    seen, missing = (followers(model, NAMES, context) for context in ([2], [3, 3]))
    nothing = followers(fit(model.counts, "none", 3), NAMES, [3, 3])
    words = fake(Continuations, word=4, words=("<b>york", "b", "c", "d"))
    bits = np.linspace(900, 100, len(MODELS))[:, None] * np.linspace(0.9, 1.1, 12)
    measured = BitsPerCharacter(MODELS, bits, np.full(12, 60))
    same = BitsPerCharacter(MODELS, np.tile(bits[:1], (len(MODELS), 1)), np.full(12, 60))
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
    return (
        Example("orders", order_bits, (smooth, order), smooth.compared(order)["bits"]),
        Example("orders, impossible", order_bits, (raw, (2, 1, 0)), 5),
        Example("orders, none possible", order_bits, (none, (0, 1)), 2),
        Example("followers", unseen.follower_bars, (seen, impossible, 2), seen.seen),
        Example("followers, unseen", unseen.follower_bars, (missing, impossible, 3), 18),
        Example("followers, undefined", unseen.follower_bars, (nothing, impossible, 3), 18),
        Example("continuations", unseen.continuations, (words,), int(words.count[0])),
        Example("verb agreement", window.agreement_curves, (distance, 3), 7),
        Example("blocks of a window", window.cosines_of_positions, (blocks,), blocks.same.mean()),
        fake_example("copying", written.copied_spans, lambda result: result.spans[-1].mean,
                     2, case=4, text=9),
        Example("ruler", ruler.bits_by_model, (measured, "smollm2", "characters_gru"),
                measured.of("smollm2").mean),
        Example("ruler, more", ruler.bits_by_model, (measured, "uniform", "ngram1"),
                measured.of("ngram1").mean),
        Example("ruler, null", ruler.bits_by_model, (same, "uniform", "ngram1"),
                same.of("ngram1").mean),
    )  # fmt: skip
