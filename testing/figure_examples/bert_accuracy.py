"""Examples of figures of accuracy, with results of any size."""

from __future__ import annotations

import numpy as np

from seqviz.compute.bert_accuracy import results
from seqviz.compute.bert_accuracy.counting import BERT_BASE, MINILM, count
from seqviz.compute.bert_accuracy.reported import CURVES, REPORTED
from seqviz.figures.bert_accuracy import (
    compare,
    counts,
    curves,
    direction,
    fill,
    ids,
    modes,
    padding,
    progress,
    regimes,
    search,
    word_masking,
)
from seqviz.stats import proportions
from testing.fake import fake
from testing.figure_examples import Example

BASELINE = proportions.of(1003, 2000)
WORDS = ("a", "<b>warm</b>", ",", "funny", "&", "engaging", "film", "touching", "50%", ".")
PIECES = ("[CLS]", *WORDS, "[SEP]")
TRUTH = "<b>warm</b>"
CANDIDATES = ("funny", "and", "%{x}", "extraordinarily-long", "the", "&amp;", "##ly", "a", "1999")
LENGTHS = np.array([32, 45, 64, 91, 128, 181, 256, 362, 512])
LONG = 200
SENTENCES = 2000
SEVERAL_RUNS = ("random_head", "head_pooler", "head_cls", "head_mean", "top_2", "lora", "all")
ONE_RUN = ("bag_of_words", "lstm", "gru", "masked_50", "pads_64", "pads_128", "causal")
NAMES = ("head <b>&", "all weights")
METHODS = ("grid", "random", "bayes")
RATES, BATCHES = np.logspace(-5, -1, 17), np.array([16, 32, 64])


def knife_of(
    sentences: int = SENTENCES, shares: int = 21, orders: tuple[str, ...] = results.ORDERS
) -> results.WordMaskingCurve:
    """Return accuracy by the share of masked words."""
    at = np.linspace(0, 1, shares)
    return fake(results.WordMaskingCurve, orders=orders, shares=at, sentence=sentences)


def own_knife_of(
    words: tuple[str, ...] = WORDS, orders: tuple[str, ...] = results.ORDERS
) -> results.UserTextMasking:
    """Return the masking of one sentence, in a random order of words."""
    turns = np.random.RandomState(3).uniform(size=(len(orders), len(words))).argsort(axis=1)
    return fake(
        results.UserTextMasking, words=words, orders=orders, turns=turns, masked=len(words) + 1
    )


def fill_of(positions: int = 9000, share: float = 0.15, mask: float = 0.8) -> results.FillIn:
    """Return ranks of which many are 1."""
    draw, rest = np.random.RandomState(4), (1 - mask) / 2
    treatment = draw.choice(3, size=positions, p=[mask, rest, rest])
    rank, frequency = (draw.geometric(p, positions) for p in (0.3, 0.1))
    return results.FillIn(results.FillSettings(share, mask, rest, 2000), treatment, rank, frequency)


def fills(count: int = 7) -> tuple[results.FillIn, ...]:
    """Return fill-in results at several shares of selected tokens."""
    return tuple(fill_of(3000, float(share)) for share in np.linspace(0.05, 0.65, count))


def guesses_of(
    conditions: tuple[str, ...] = results.TREATMENTS, candidates: int = 8
) -> results.Guesses:
    """Return guesses in which the true token ranks second, first and 4211th, in turn."""
    ranks = np.resize([2, 1, 4211], len(conditions))
    words = (
        (*CANDIDATES[: rank - 1], TRUTH, *CANDIDATES[rank - 1 :])[:candidates] for rank in ranks
    )
    probability = 0.34 / 2.0 ** np.arange(candidates)
    of_truth = [probability[rank - 1] if rank <= candidates else 0.00002 for rank in ranks]
    return fake(
        results.Guesses, conditions=conditions, truth=TRUTH, candidates=tuple(words), position=2,
        rank=ranks, pieces=(("[CLS]", "a", "[MASK]", "film", "[SEP]"),) * len(conditions),
        probability=np.tile(probability, (len(ranks), 1)),
        truth_probability=np.array(of_truth),
    )  # fmt: skip


def padding_of(
    sentences: int = SENTENCES, lengths: np.ndarray = LENGTHS, n_sentences: int = 400
) -> results.Padding:
    """Return the effect of padding; only the first sentences have very long versions."""
    result = fake(results.Padding, lengths=lengths, sentence=sentences, told=2, side=2)
    for values in (result.probability, result.drift, result.on_pads):
        values[:, :, lengths > LONG, n_sentences:] = np.nan
    return result


def own_padding_of(
    words: tuple[str, ...] = PIECES, pads: int = 8, lengths: np.ndarray = LENGTHS
) -> results.UserTextPadding:
    """Return one sentence with padding after it."""
    pieces, real = (*words, *["[PAD]"] * pads), np.arange(len(words) + pads) < len(words)
    return fake(results.UserTextPadding, pieces=pieces, real=real, lengths=lengths, told=2, side=2)


def direction_of(
    sentences: int = SENTENCES, directions: tuple[str, ...] = results.DIRECTIONS
) -> results.AttentionDirections:
    """Return attention to both sides, and to one."""
    return fake(
        results.AttentionDirections, directions=directions, sentence=sentences, place=sentences
    )


def at(curve: results.WordMaskingCurve, order: str, share: float) -> float:
    """Return accuracy in percent, computed from the probabilities."""
    row = curve.probability[curve.orders.index(order)]
    right = ((row >= 0.5) == curve.positive).mean(axis=-1)
    return 100 * np.interp(share, curve.shares, right)


def truth(sentences: int = SENTENCES) -> np.ndarray:
    """Return labels of which about half are positive."""
    return np.random.RandomState(0).uniform(size=sentences) < 0.5


def right(share: float, seed: int, sentences: int = SENTENCES) -> np.ndarray:
    """Return the sentences on which a system is correct."""
    return np.random.RandomState(seed).uniform(size=sentences) < share


def system_of(name: str, runs: int = 1, sentences: int = SENTENCES) -> results.SystemPredictions:
    """Return the predictions of a system that guesses."""
    return fake(results.SystemPredictions, len(name), system=name, run=runs, sentence=sentences)


def systems() -> tuple[results.SystemPredictions, ...]:
    """Return predictions of all systems of the lesson."""
    return (*(system_of(name, 3) for name in SEVERAL_RUNS), *map(system_of, ONE_RUN))


def tuned(runs: int = 3, epochs: int = 5) -> results.Tuned:
    """Return a fine-tuning of so many runs and epochs."""
    settings = results.TuneSettings(regime="all", epochs=epochs, runs=runs)
    return fake(results.Tuned, settings=settings, run=runs, epoch=epochs + 1)


def trail(settings: results.TuneSettings, until: float = 0.6) -> list[results.TuneRecord]:
    """Return the reports of a fine-tuning up to a share of its steps."""
    epoch = -(-settings.sentences // settings.batch)
    steps = settings.epochs * epoch
    records = (
        fake(results.TuneRecord, step, run=run, step=step, steps=steps,
             accuracy=0.5 + 0.4 * step / steps, validation=np.nan if step % epoch else 0.7,
             fraction=(run + step / steps) / settings.runs)
        for run in range(settings.runs)
        for step in sorted({*range(20, steps, 20), *range(epoch, steps + 1, epoch)})
    )  # fmt: skip
    return [record for record in records if record.fraction <= until]


def surface() -> results.SearchSurface:
    """Return the accuracy at each learning rate and batch size."""
    return fake(results.SearchSurface, rate=RATES, batch=BATCHES)


def searched(method: str = "bayes", trials: int = 12) -> results.Searched:
    """Return a hyperparameter search of so many trials."""
    draw = np.random.RandomState(METHODS.index(method))
    validation = draw.uniform(0.5, 0.9, trials)
    return fake(
        results.Searched, settings=results.SearchSettings(method=method, budget=trials),
        validation=validation, rate=10 ** draw.uniform(-5, -1, trials),
        batch=draw.choice(BATCHES, trials), best=int(np.argmax(validation)) if trials else 0,
    )  # fmt: skip


def modes_of(repeats: int = 20) -> results.ModeComparison:
    """Return probabilities that are constant in evaluation mode and vary in training mode."""
    probability = np.random.RandomState(6).uniform(0.78, 0.88, (2, repeats))
    probability[0] = 0.83
    return results.ModeComparison(
        ("eval", "train"), probability, np.array([[True, False], [True, False]])
    )


def baseline(sentences: int = SENTENCES) -> proportions.Proportion:
    """Return the baseline that always predicts "positive"."""
    return proportions.majority(np.array([True, True, False]), truth(sentences))


def confusions() -> tuple[proportions.Confusion, proportions.Confusion]:
    """Return the confusion matrices of two systems, the second of which is better."""
    first, second = (truth() == right(*system) for system in ((0.79, 8), (0.87, 9)))
    return proportions.confusion(truth(), first), proportions.confusion(truth(), second)


def examples() -> tuple[Example, ...]:
    """Return examples of every figure function of the subject, several where it has branches."""
    return (*_of_masks(), *_of_padding(), *_of_trainings(), *_of_comparisons())


def _of_masks() -> tuple[Example, ...]:
    cut, own, filled, many = knife_of(), own_knife_of(), fill_of(), fills()
    controls = fake(
        results.WordMaskingCurve, orders=results.CONTROLS, shares=cut.shares, sentence=1000
    )
    by_direction = guesses_of(results.DIRECTIONS)
    under, masked = word_masking.accuracy_under_masking, filled.rank[filled.treatment == 0]
    return (
        Example("masked words", under, (cut, "attention", 0.35, BASELINE),
                at(cut, "attention", 0.35)),
        Example("masked words, between", under, (cut, "random", 0.13, BASELINE),
                at(cut, "random", 0.13)),
        Example("masked words, controls", under, (cut, "random", 0.5, BASELINE, controls),
                at(cut, "random", 0.5)),
        Example("masked sentence", word_masking.sentence_under_masking, (own, "gradient", 4),
                100 * own.probability[2, 4]),
        Example("fill-in", fill.fill_in_accuracy, (filled,), 100 * (masked == 1).mean()),
        Example("fill-in by share", fill.fill_in_accuracy_by_share, (many, 0.15),
                100 * (many[1].rank[many[1].treatment == 0] == 1).mean()),
        Example("guesses", fill.best_guesses, (guesses_of(),), 17.0),
        Example("guesses by direction", fill.best_guesses, (by_direction,), 4211.0),
    )  # fmt: skip


def _of_padding() -> tuple[Example, ...]:
    result, own, directions = padding_of(), own_padding_of(), direction_of()
    masking = 100 * ((result.probability[1, 0, 2] >= 0.5) == result.positive).mean()
    flipped = (result.probability[1, 1, 6, :400] >= 0.5) != (result.unpadded[:400] >= 0.5)
    in_mean = fake(results.PadsInMean, lengths=LENGTHS, told=2, sentence=1000)
    return (
        Example("padding, accuracy", padding.padding_effect, (result, "accuracy", 64, "right"),
                masking),
        Example("padding, in the mean", padding.padding_effect,
                (result, "accuracy", 64, "right", BASELINE, in_mean), masking),
        Example("padding, flipped", padding.padding_effect, (result, "flipped", 256, "left"),
                100 * flipped.mean()),
        Example("padding, drift", padding.padding_effect, (result, "drift", 128, "right"),
                np.median(result.drift[1, 0, 4])),
        Example("padding, on pads", padding.padding_effect, (result, "on_pads", 128, "left"),
                100 * np.median(result.on_pads[1, 1, 4])),
        Example("padded sentence", padding.sentence_padding, (own, 128),
                100 * own.probability[1, 0, 4]),
        Example("ids", ids.token_ids, (own,), len(PIECES)),
        Example("direction", direction.accuracy_by_direction, (directions, BASELINE),
                100 * ((directions.probability[1] >= 0.5) == directions.positive).mean()),
    )  # fmt: skip


def _of_trainings() -> tuple[Example, ...]:
    result, some = systems(), tuned()
    settings = results.TuneSettings(regime="lora", epochs=3, runs=2)
    records, bayes, random = trail(settings), searched(), searched("random")
    by_head = 100 * ((result[3].probability >= 0.5) == truth()).mean()
    best = 100 * bayes.validation.max()
    return (
        Example("systems", regimes.system_accuracies,
                (result, truth(), "head_mean", baseline(), REPORTED), by_head),
        Example("systems, ours alone", regimes.system_accuracies,
                (result[:4], truth(), "head_mean", baseline()), by_head),
        Example("curves", curves.learning_curves, (some, None, baseline()),
                100 * some.validation.mean(0).max()),
        Example("curves, text", curves.learning_curves, (some, CURVES[1], baseline()),
                some.loss.mean(0)[-1]),
        Example("progress", progress.training_progress, (records, settings, baseline()),
                records[-1].loss),
        Example("progress, nothing yet", progress.training_progress, ([], settings, baseline()), 2),
        Example("modes", modes.train_and_eval, (modes_of(),),
                100 * modes_of().probability[1].max()),
        Example("search", search.search_trials, (bayes, surface()), best),
        Example("search, no map", search.search_trials, (random,), 100 * random.validation.max()),
        Example("best so far", search.best_so_far, (tuple(map(searched, METHODS)),), best),
    )  # fmt: skip


def _of_comparisons() -> tuple[Example, ...]:
    first, second = right(0.79, 8), right(0.87, 9)
    a, b = map(proportions.running, (first, second))
    pair, small = proportions.mcnemar(first, second), count(MINILM, "lora")
    return (
        Example("running", compare.running_accuracy, (a, b, NAMES, 500), 100 * a.share[499]),
        Example("paired", compare.paired_answers, (pair, NAMES), pair.only_first),
        Example("confusion", compare.confusion_matrices, (*confusions(), NAMES),
                int(confusions()[0].counts[1, 1])),
        Example("parameters of parts", counts.parameter_counts, (small, "MiniLM, LoRA"),
                100 * small.trainable / small.total),
        Example("parameters, bert-base", counts.parameter_counts,
                (count(BERT_BASE, "head"), "bert-base"), 100 * 1538 / 109_483_778),
    )  # fmt: skip
