"""Examples of figures of recurrent networks: wirings, states, costs, and taggers."""

from __future__ import annotations

import numpy as np

from seqviz.compute.recurrent.costs.counting import NetworkSizes, bill, shapes
from seqviz.compute.recurrent.costs.terms import AnswerTerms
from seqviz.compute.recurrent.states.readouts import ByReadout, Padded, StatePath
from seqviz.compute.recurrent.states.tying import tables
from seqviz.compute.recurrent.states.writing import ByStep, GeneratedText, LettersRead
from seqviz.compute.recurrent.tagging import letters
from seqviz.compute.recurrent.tagging.lac import DECODERS, SIDES, WAYS, TagChanges, TagSequence
from seqviz.compute.recurrent.tagging.letters_compared import Compared, TrainedAhead
from seqviz.compute.recurrent.wirings.collapse import collapse
from seqviz.compute.recurrent.wirings.graph import WIRINGS, Influence, WiringGraph
from seqviz.compute.recurrent.wirings.notations import written
from seqviz.compute.recurrent.wirings.order import orders
from seqviz.compute.recurrent.wirings.step import steps
from seqviz.figures.recurrent.costs import measured, parameters
from seqviz.figures.recurrent.lac import tagger
from seqviz.figures.recurrent.states import readouts, writing
from seqviz.figures.recurrent.tagging import letters as tagging
from seqviz.figures.recurrent.wirings import graph, step
from seqviz.figures.recurrent.wirings.collapse import network_beside_convolution
from testing.fake import fake
from testing.figure_examples import Example, fake_example

LINE = "a <b>bold</b> line"
TEXT, LONG = "研究<b>的起源", "工信处女干事每月经过下属科室都要亲口交代24口交换机等技术"
TAGS = ("n-B", "n-I", "v-B", "v-I", "u-B", "LOC-B", "LOC-I", "O")
READOUTS = ("words", "last", "mean", "max", "both_concat")


def examples() -> tuple[Example, ...]:
    """Return examples of every figure function of the subject, several where it has branches."""
    return (*_of_wirings(), *_of_states(), *_of_costs(), *_of_letters(), *_of_lac())


def _of_wirings() -> tuple[Example, ...]:
    small = steps("0.8 -0.6; 0.6 0.8", "1; 0", "0 0", "2 0; 0 2", "2", 6, "softmax")
    large = steps("1 0 0; 0 1 0; 0 0 1", "1 2; 0 1; 3 -1", "0 0 1", "1 1 1", "-2 1", 3, "sigmoid")
    off, on = collapse(0.0, 1.0, 8, "float64", 1), collapse(1.0, 3.0, 1, "float32", 2)
    order = orders("<b> a & c", "a c <b>", 1)
    every = tuple(influence_of(wiring) for wiring in WIRINGS.values())
    decoder = influence_of(WiringGraph("lstm", 3, True, "first", "after"))
    return (
        Example("one step", step.one_step, (small, 3, 1), small.h[3, 0]),
        Example("one step, three units", step.one_step, (large, 1, 3), large.a[0, 2]),
        *(
            Example(f"notation {name}", step.notation_blocks,
                    (written(small.cell, small.h[2], small.x[2], name),), small.h[3, 1])
            for name in ("s0", "code", "s1", "joined")
        ),
        Example("two orders", step.orders_apart, (order,), order.apart),
        Example("wirings", graph.wirings_beside, (every,), sum(item.nonzero[0] for item in every)),
        Example("a wiring", graph.wiring_lit, (influence_of(WiringGraph()), 3), 3),
        Example("a decoder", graph.wiring_lit, (decoder, 2), 1),
        Example("without tanh", network_beside_convolution, (off,), off.superposition),
        Example("with tanh", network_beside_convolution, (on,), on.error),
    )  # fmt: skip


def influence_of(wiring: WiringGraph) -> Influence:
    """Return a possible influence matrix of a network with this wiring."""
    reach = wiring.reach()
    norm = np.random.RandomState(0).uniform(1e-4, 0.3, reach.shape) * reach
    return fake(Influence, wiring=wiring, norm=norm)


def _of_states() -> tuple[Example, ...]:
    read, long = letters_of(LINE), letters_of(LINE * 5)
    by_step = fake(ByStep, reading=4, case=3, temperatures=(0.0, 1.0))
    many = fake(ByReadout, names=READOUTS, readout=5, words=np.arange(3, 40),
                   pads=np.array([0, 1, 10, 40]))  # fmt: skip
    own, counts = fake(Padded, pads_1=41), tables(30_522, 256, 32)
    full, rest = (fake(StatePath, n, piece=n, time_1=n + 1) for n in (6, 5))
    text = fake(
        GeneratedText,
        before=tuple(LINE),
        generated=tuple("ld <i>\n"),
        true=tuple("le text"),
        step=7,
    )
    return (
        Example("letters", writing.letters_read, (read, 3), read.mean_bits),
        Example("letters, long", writing.letters_read, (long, 44), 44),
        Example("own letters", writing.own_letters, (text,), text.parted),
        Example("by step", writing.bits_by_step, (by_step, 0.0), by_step.sentences),
        Example("by step, drawn", writing.bits_by_step, (by_step, 1.0), by_step.sentences),
        Example("states so far", writing.steps_so_far, ((0.2, 0.4),), 40),
        Example("tied tables", writing.tied_tables, (counts,), counts.all_tied),
        Example("path", readouts.state_path, (full, rest, 3), len(full.pieces)),
        Example("path, nothing deleted", readouts.state_path, (full, None, 0), len(full.pieces)),
        Example("readouts", readouts.accuracy_by_readout, (many, READOUTS, 10), many.reviews(10)),
        Example("pads", readouts.pads_behind, (own, many, "unknown", 10), 10),
    )  # fmt: skip


def letters_of(text: str) -> LettersRead:
    """Return a text as read by an untrained network."""
    symbols = ("<unk>", *sorted(set(text)))
    shares = np.random.RandomState(0).dirichlet(np.ones(len(symbols)), len(text))
    ids = np.array([symbols.index(item) for item in text])
    return fake(LettersRead, pieces=tuple(text), symbols=symbols, ids=ids, log2=np.log2(shares))


def _of_costs() -> tuple[Example, ...]:
    result = bill(NetworkSizes(), 100)
    deep = bill(NetworkSizes(8, 4, 3, 2, "one", 0), 7)
    flat = shapes("rnn", NetworkSizes(512, 1, biases="none"))
    terms = fake(AnswerTerms, pieces=tuple("is <full>"), token=9)
    return (
        Example("bill", parameters.parameters_by_length, (result,), 100),
        Example("bill, deep", parameters.parameters_by_length, (deep,), 7),
        Example("bill, shapes", parameters.matrices, (shapes("lstm", NetworkSizes()),), 128),
        Example("bill, flat shapes", parameters.matrices, (flat,), 512),
        fake_example("bill, time", measured.time_by_length, lambda times: times.ratio(1, 64), 1, 64,
                     batches=(1, 32), batch=2, lengths=2 ** np.arange(7), way=2),
        Example("bill, so far", measured.timed_so_far, ((0.2, 0.4),), 40),
        Example("bill, terms", measured.terms_of_loss, (terms, "before", "ty"),
                terms.bits("before")),
        Example("bill, terms to Tx", measured.terms_of_loss, (terms, "same", "tx"),
                terms.bits("same", "tx")),
    )  # fmt: skip


def _of_letters() -> tuple[Example, ...]:
    size = {"letters": np.full((len(letters.TAGS), 8), 10), "ahead": np.array([0, 1, 5])}
    english = fake(Compared, task="spaces", wiring=3, **size)
    ahead = fake(TrainedAhead, task="spaces", **size)
    typed = text_of("spaces", letters.without_spaces("I saw <b>Anna</b> & New York."))
    read = text_of("words", letters.boundaries("我打车去", lambda item: (item[:2], item[2:])))
    return (
        fake_example("English by wiring", tagging.errors_by_wiring,
                     lambda result: result.error("uni").value, task="spaces", wiring=3, **size),
        fake_example("Chinese by wiring", tagging.errors_by_wiring,
                     lambda result: result.error("bi").value, task="words", wiring=3, **size),
        Example("ahead", tagging.errors_ahead, (english, ahead, 1), ahead.error(1).value),
        Example("English text", tagging.tagged_text, (typed, 1, 2), typed.n_letters),
        Example("Chinese text", tagging.tagged_text, (read, 2, 4), read.n_letters),
        Example("training", tagging.losses_so_far, ((((2.0, 1.0),), ((2.0, 1.0), (1.5,))),), 1.5),
        Example("networks so far", tagging.trained_so_far, (((2, 15), (3, 15)),), 3),
    )  # fmt: skip


def text_of(task: str, tagged: letters.TaggedExample) -> letters.TaggedText:
    """Return a text as tagged by three networks."""
    return fake(letters.TaggedText, task=task, text=tagged.symbols, tags=tagged.tags, row=3,
                tag=len(letters.TAGS))  # fmt: skip


def _of_lac() -> tuple[Example, ...]:
    result, long, other = tagged(TEXT, 0), tagged(LONG, 1), tagged(TEXT, 3)[0]
    alone = int((result[2].path != result[0].path).sum())
    many = fake(TagChanges, lengths=np.arange(60, 70), ways=len(WAYS), sides=len(SIDES),
                decoders=len(DECODERS), common="v-B")  # fmt: skip
    return (
        Example("LAC's tags", tagger.tags_of_characters, (result, "emission"), alone),
        Example("LAC's tags, marginal", tagger.tags_of_characters, (long, "marginal"), len(LONG)),
        Example("LAC's sides", tagger.sides_of_characters, (result[0], other, "right", 2),
                int(result[0].changed(other).sum())),
        Example("LAC counted", tagger.changes_counted, (many, "mean"), many.unlawful("emission")),
        Example("LAC so far", tagger.counted_so_far, ((0.2, 0.4),), 40),
    )  # fmt: skip


def tagged(text: str, seed: int) -> tuple[TagSequence, ...]:
    """Return a text with tags by each of three decoders."""
    paths = np.random.RandomState(seed).randint(len(TAGS), size=(3, len(text)))
    return tuple(
        fake(TagSequence, seed, text=text, tags=TAGS, path=path, features=32) for path in paths
    )
