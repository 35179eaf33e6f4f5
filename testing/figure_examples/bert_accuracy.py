"""Every figure of this subject with findings as the experiments would have them, of seeded numbers.

The experiments need a pretrained network: here are the same results with plausible numbers, of any
size.
"""

from __future__ import annotations

import numpy as np

from seqviz.compute.bert_accuracy.counting import BERT_BASE, MINILM, count
from seqviz.compute.bert_accuracy.reported import CURVES, REPORTED
from seqviz.compute.bert_accuracy.results import (
    CONTROLS,
    DIRECTIONS,
    ORDERS,
    TREATMENTS,
    AttentionDirections,
    FillIn,
    FillSettings,
    Guesses,
    ModeComparison,
    Padding,
    PadsInMean,
    Searched,
    SearchSettings,
    SearchSurface,
    SystemPredictions,
    Tuned,
    TuneRecord,
    TuneSettings,
    UserTextMasking,
    UserTextPadding,
    WordMaskingCurve,
)
from seqviz.figures.bert_accuracy.compare import (
    confusion_matrices,
    paired_answers,
    running_accuracy,
)
from seqviz.figures.bert_accuracy.counts import parameter_counts
from seqviz.figures.bert_accuracy.curves import learning_curves
from seqviz.figures.bert_accuracy.direction import accuracy_by_direction
from seqviz.figures.bert_accuracy.fill import (
    best_guesses,
    fill_in_accuracy,
    fill_in_accuracy_by_share,
)
from seqviz.figures.bert_accuracy.ids import token_ids
from seqviz.figures.bert_accuracy.modes import train_and_eval
from seqviz.figures.bert_accuracy.padding import padding_effect, sentence_padding
from seqviz.figures.bert_accuracy.progress import training_progress
from seqviz.figures.bert_accuracy.regimes import system_accuracies
from seqviz.figures.bert_accuracy.search import best_so_far, search_trials
from seqviz.figures.bert_accuracy.word_masking import accuracy_under_masking, sentence_under_masking
from seqviz.stats.proportions import (
    Confusion,
    Proportion,
    confusion,
    majority,
    mcnemar,
    of,
    running,
)
from testing.figure_examples import Example

BASELINE = of(1003, 2000)
WORDS = ("a", "<b>warm</b>", ",", "funny", "&", "engaging", "film", "touching", "50%", ".")
PIECES = ("[CLS]", *WORDS, "[SEP]")
LENGTHS = np.array([32, 45, 64, 91, 128, 181, 256, 362, 512])
LONG = 200


def probabilities(positive: np.ndarray, accuracy: np.ndarray, seed: int) -> np.ndarray:
    """Answers [..., sentence] of which about this share is right, the same luck in every row."""
    luck = np.random.RandomState(seed).uniform(size=len(positive))
    right = luck < np.asarray(accuracy)[..., None]
    return np.where(right == positive, 0.9, 0.2)


def knife_of(
    sentences: int = 2000, shares: int = 21, orders: tuple[str, ...] = ORDERS
) -> WordMaskingCurve:
    """Accuracy falls from 79% to a coin's, fastest where content words go first."""
    x = np.linspace(0, 1, shares) if shares > 1 else np.zeros(1)
    positive = np.random.RandomState(1).uniform(size=sentences) < 0.5
    bends = {"random": 0.7, "attention": 0.6, "gradient": 0.4, "content": 0.5, "function": 2.5}
    requested = np.array([0.79 - 0.29 * x ** bends[order] for order in orders])
    return WordMaskingCurve(orders, x, probabilities(positive, requested, 2), positive)


def controls_of(sentences: int = 1000) -> WordMaskingCurve:
    """Both controls lie above masking at random, on fewer sentences."""
    curve = knife_of(sentences, orders=("random", "random"))
    requested = np.array([0.79 - 0.24 * curve.shares**2, 0.78 - 0.26 * curve.shares**2])
    probability = probabilities(curve.positive, requested, 2)
    return WordMaskingCurve(CONTROLS, curve.shares, probability, curve.positive)


def own_knife_of(
    words: tuple[str, ...] = WORDS, orders: tuple[str, ...] = ORDERS
) -> UserTextMasking:
    """Words go in any order; the answer starts at 93% and ends at 38%."""
    draw = np.random.RandomState(3)
    turns = np.array([draw.permutation(len(words)) for _ in orders])
    turns = turns.reshape(len(orders), len(words)).astype(int)
    steps = draw.normal(-0.25, 0.5, (len(orders), len(words) + 1)).cumsum(axis=1)
    probability = 1 / (1 + np.exp(-2.5 - steps))
    probability[:, 0], probability[:, -1] = 0.93, 0.38
    return UserTextMasking(words, orders, turns, probability)


def fill_of(positions: int = 9000, share: float = 0.15, mask: float = 0.8) -> FillIn:
    """Ranks of the truth that are low where it is left alone."""
    draw = np.random.RandomState(4)
    rest = (1 - mask) / 2
    treatment = draw.choice(3, size=positions, p=[mask, rest, rest])
    scale = np.array([4.0 + 9 * share, 5.5, 0.15])[treatment]
    rank = 1 + np.floor(np.expm1(draw.exponential(scale / 2))).clip(max=30000).astype(int)
    frequency = 1 + np.floor(np.expm1(draw.exponential(4, positions))).clip(max=30000).astype(int)
    return FillIn(FillSettings(share, mask, rest, 2000), treatment, rank, frequency)


def fills(count: int = 7) -> tuple[FillIn, ...]:
    """The same at several shares of selected tokens."""
    return tuple(fill_of(3000, float(share)) for share in np.linspace(0.05, 0.65, count))


def guesses_of(conditions: tuple[str, ...] = TREATMENTS, candidates: int = 8) -> Guesses:
    """The truth is second, first, and far behind, in turn."""
    truth = "<b>warm</b>"
    words = ("funny", "and", "%{x}", "extraordinarily-long", "the", "&amp;", "##ly", "a", "1999")
    rows, ranks, probabilities = [], [], []
    probability = np.array([0.34 / 2**k for k in range(candidates)])
    for row, _ in enumerate(conditions):
        rank = (2, 1, 4211)[row % 3]
        best = list(words[:candidates])
        if rank <= candidates:
            best = [*best[: rank - 1], truth, *best[rank - 1 :]][:candidates]
        rows.append(tuple(best))
        ranks.append(rank)
        probabilities.append(probability[rank - 1] if rank <= candidates else 0.00002)
    pieces = tuple(("[CLS]", "a", "[MASK]", "film", "[SEP]") for _ in conditions)
    return Guesses(conditions, pieces, 2, truth, tuple(rows), np.tile(probability, (len(rows), 1)),
                   np.array(ranks), np.array(probabilities))  # fmt: skip


def padding_of(
    sentences: int = 2000, lengths: np.ndarray = LENGTHS, n_sentences: int = 400
) -> Padding:
    """Told, little happens; untold the more, the longer. Few sentences are made very long."""
    positive = np.random.RandomState(1).uniform(size=sentences) < 0.5
    far = np.log2(np.maximum(lengths, 32) / 28) / 4.2
    zero = np.zeros(len(lengths))
    harm = np.array([[zero, 0.03 * far], [0.29 * far, 0.31 * far]])
    spread = np.random.RandomState(5).gamma(4, 0.25, sentences)
    plain = probabilities(positive, np.array(0.79), 2)
    probability = probabilities(positive, 0.79 - harm, 2)
    drift = (harm * 0.6)[..., None] * spread
    on_pads = np.array([[zero, zero], [far, far * 0.96]])[..., None] * np.clip(spread, 0, 1.0)
    for values in (probability, drift, on_pads):
        values[:, :, lengths > LONG, n_sentences:] = np.nan
    return Padding(lengths, plain, probability, drift, on_pads, positive)


def in_mean_of(sentences: int = 1000, n_sentences: int = 400) -> PadsInMean:
    """With padding in the mean as well a little more is lost."""
    padding = padding_of(sentences, n_sentences=n_sentences)
    far = np.log2(LENGTHS / 28) / 4.2
    probability = probabilities(padding.positive, 0.79 - np.array([0.2 * far, 0.4 * far]), 2)
    probability[:, LENGTHS > LONG, n_sentences:] = np.nan
    return PadsInMean(LENGTHS, probability, padding.positive)


def own_padding_of(
    words: tuple[str, ...] = PIECES, pads: int = 8, lengths: np.ndarray = LENGTHS
) -> UserTextPadding:
    """One sentence: told, little happens; untold the more, the longer."""
    far = np.log2(np.maximum(lengths, 16) / 12) / 5.5
    zero = np.zeros(len(lengths))
    real = np.arange(len(words) + pads) < len(words)
    return UserTextPadding(
        (*words, *["[PAD]"] * pads),
        np.where(real, 1000 + 2317 * np.arange(len(real)) % 28000, 0),
        real,
        lengths,
        0.912,
        0.912 - np.array([[zero, 0.02 + zero], [0.7 * far, 0.66 * far]]),
        np.array([[zero, 0.01 * far], [0.3 * far, 0.28 * far]]),
        np.array([[zero, zero], [far, 0.95 * far]]),
    )


def direction_of(
    sentences: int = 2000, directions: tuple[str, ...] = DIRECTIONS
) -> AttentionDirections:
    """Both ways are better than one, and a head fitted anew is a little better."""
    positive = np.random.RandomState(1).uniform(size=sentences) < 0.5
    requested = np.array([0.79, 0.75, 0.71])[: len(directions)]
    draw = np.random.RandomState(6).uniform(size=(len(directions), sentences))
    rank = np.where(draw < requested[:, None] - 0.5, 1, 40)
    return AttentionDirections(directions, probabilities(positive, requested, 2),
                     probabilities(positive, requested + 0.02, 7), rank, positive)  # fmt: skip


def at(curve: WordMaskingCurve, order: str, share: float) -> float:
    """Accuracy in percent, from the answers themselves."""
    row = curve.probability[curve.orders.index(order)]
    right = ((row >= 0.5) == curve.positive).mean(axis=-1)
    return 100 * float(np.interp(share, curve.shares, right))


SYSTEMS = {  # accuracy, runs
    "random_head": (0.52, 5), "head_pooler": (0.73, 5), "head_cls": (0.74, 5),
    "head_mean": (0.79, 5), "top_2": (0.83, 3), "lora": (0.855, 3), "all": (0.865, 3),
    "bag_of_words": (0.76, 1), "lstm": (0.74, 1), "gru": (0.75, 1), "masked_50": (0.53, 1),
    "pads_64": (0.71, 1), "pads_128": (0.68, 1), "causal": (0.75, 1),
}  # fmt: skip
SENTENCES = 2000
NAMES = ("head <b>&", "all weights")
RATES, BATCHES = np.logspace(-5, -1, 17), np.array([16, 32, 64])


def truth(sentences: int = SENTENCES) -> np.ndarray:
    """Half of the sentences are positive."""
    return np.random.RandomState(0).uniform(size=sentences) < 0.5


def answers(share: float, runs: int = 1, seed: int = 1, sentences: int = SENTENCES) -> np.ndarray:
    """Probabilities that are on the right side about as often as told."""
    draw = np.random.RandomState(seed)
    right = draw.uniform(size=(runs, sentences)) < share
    return 0.5 + 0.4 * np.where(right == truth(sentences), 1, -1) * draw.uniform(
        0.1, 1, right.shape
    )


def systems(sentences: int = SENTENCES) -> tuple[SystemPredictions, ...]:
    """All systems of the lesson, each as good as `SYSTEMS` says."""
    return tuple(
        SystemPredictions(name, answers(share, runs, seed, sentences))
        for seed, (name, (share, runs)) in enumerate(SYSTEMS.items())
    )


def right(share: float, seed: int, sentences: int = SENTENCES) -> np.ndarray:
    """On which sentences a system is right; two of them share half of their errors."""
    hard = np.random.RandomState(7).uniform(size=sentences)
    own = np.random.RandomState(seed).uniform(size=sentences)
    return 0.5 * hard + 0.5 * own < np.quantile(0.5 * hard + 0.5 * own, share)


def tuned(runs: int = 3, epochs: int = 5, regime: str = "all") -> Tuned:
    """Losses that fall, and a validation that is best before the end."""
    draw = np.random.RandomState(2)
    time = np.arange(epochs + 1) / max(epochs, 1)
    noise = 0.02 * draw.standard_normal((3, runs, epochs + 1))
    loss = 0.69 * np.exp(-2.2 * time) + 0.01 + np.abs(noise[0]) / 4
    accuracy = 0.51 + 0.47 * (1 - np.exp(-2.5 * time)) + noise[1] / 4
    valid = 0.51 + 0.36 * (1 - np.exp(-5 * time)) - 0.03 * time**3 + noise[2] / 4
    settings = TuneSettings(regime=regime, epochs=epochs, runs=runs)
    return Tuned(
        settings, loss, accuracy, valid, answers(0.86, runs), 22_714_754, 22_714_754, 300.0
    )


def trail(settings: TuneSettings, until: float = 0.6) -> list[TuneRecord]:
    """What a training would have reported until this share of it was done."""
    draw = np.random.RandomState(3)
    epoch = -(-settings.sentences // settings.batch)
    steps = settings.epochs * epoch
    records: list[TuneRecord] = []
    for run in range(settings.runs):
        for step in sorted({*range(20, steps, 20), *range(epoch, steps + 1, epoch)}):
            fraction = (run + step / steps) / settings.runs
            if fraction > until:
                return records
            done, noise = step / steps, draw.standard_normal(2)
            loss, accuracy = 0.69 * np.exp(-2 * done), 0.52 + 0.43 * np.sqrt(done)
            after = 0.6 + 0.25 * np.sqrt(done) if step % epoch == 0 else np.nan
            loss, accuracy = loss + 0.03 * noise[0], min(1.0, accuracy + 0.02 * noise[1])
            records.append(
                TuneRecord(run, step, steps, float(loss), float(accuracy), float(after), fraction)
            )
    return records


def reached(rate: np.ndarray, batch: np.ndarray) -> np.ndarray:
    """A bump: the best rate is 10^-2.6, larger for larger batches."""
    best = -2.6 + 0.3 * np.log2(batch / 32)
    return np.round(800 * (0.55 + 0.245 * np.exp(-((np.log10(rate) - best) ** 2) / 1.2))) / 800


def surface() -> SearchSurface:
    """What each pair of rate and batch size reaches."""
    return SearchSurface(RATES, BATCHES, reached(RATES, BATCHES[:, None]))


def searched(method: str = "bayes", trials: int = 12) -> Searched:
    """Bayesian search closes in on the best; the grid is a grid."""
    draw = np.random.RandomState(5)
    batch = draw.choice(BATCHES, trials)
    if method == "grid":
        rate = np.repeat(np.logspace(-5, -1, -(-trials // 3)), 3)[:trials]
        batch = np.resize(BATCHES, trials)
    elif method == "random":
        rate = 10 ** draw.uniform(-5, -1, trials)
    else:
        width = np.linspace(1.5, 0.15, trials)
        rate = 10 ** np.clip(-2.6 + width * draw.standard_normal(trials), -5, -1)
    result = reached(rate, batch)
    best = int(np.argmax(result)) if trials else 0
    return Searched(
        SearchSettings(method=method, budget=trials), rate, batch, result, best, answers(0.79)[0]
    )


def modes(repeats: int = 20) -> ModeComparison:
    """Always the same in evaluation mode, and around it in training mode."""
    probability = np.full((2, repeats), 0.83)
    probability[1] += 0.05 * np.random.RandomState(6).standard_normal(repeats)
    return ModeComparison(("eval", "train"), probability, np.array([[True, False], [True, False]]))


def baseline(sentences: int = SENTENCES) -> Proportion:
    """Always "positive"."""
    return majority(np.array([True, True, False]), truth(sentences))


def confusions() -> tuple[Confusion, Confusion]:
    """Of two systems, the second better."""
    first, second = (answers(share, seed=seed)[0] >= 0.5 for share, seed in ((0.79, 8), (0.87, 9)))
    return confusion(truth(), first), confusion(truth(), second)


def examples() -> tuple[Example, ...]:
    """What is masked, padded, trained, searched and compared."""
    return (*_of_masks(), *_of_trainings())


def _of_masks() -> tuple[Example, ...]:
    cut, own, filled, many = knife_of(), own_knife_of(), fill_of(), fills()
    padded, mine, directions = padding_of(), own_padding_of(), direction_of()
    masking = 100 * float(((padded.probability[1, 0, 2] >= 0.5) == padded.positive).mean())
    flipped = (padded.probability[1, 1, 6, :400] >= 0.5) != (padded.plain[:400] >= 0.5)
    masked = filled.rank[filled.treatment == 0]
    return (
        Example("masked words", accuracy_under_masking, (cut, "attention", 0.35, BASELINE),
         at(cut, "attention", 0.35)),
        Example("masked words, between", accuracy_under_masking, (cut, "random", 0.13, BASELINE),
         at(cut, "random", 0.13)),
        Example("masked words, controls", accuracy_under_masking,
         (cut, "random", 0.5, BASELINE, controls_of()), at(cut, "random", 0.5)),
        Example("masked sentence", sentence_under_masking, (own, "gradient", 4),
         100 * float(own.probability[2, 4])),
        Example("fill-in", fill_in_accuracy, (filled,), 100 * float((masked == 1).mean())),
        Example("fill-in by share", fill_in_accuracy_by_share, (many, 0.15),
         100 * float((many[1].rank[many[1].treatment == 0] == 1).mean())),
        Example("guesses", best_guesses, (guesses_of(),), 17.0),
        Example("guesses by direction", best_guesses, (guesses_of(DIRECTIONS),), 4211.0),
        Example("padding, accuracy", padding_effect, (padded, "accuracy", 64, "right"), masking),
        Example("padding, in the mean", padding_effect,
         (padded, "accuracy", 64, "right", BASELINE, in_mean_of()), masking),
        Example("padding, flipped", padding_effect, (padded, "flipped", 256, "left"),
         100 * float(flipped.mean())),
        Example("padding, drift", padding_effect, (padded, "drift", 128, "right"),
         float(np.median(padded.drift[1, 0, 4]))),
        Example("padding, on pads", padding_effect, (padded, "on_pads", 128, "left"),
         100 * float(np.median(padded.on_pads[1, 1, 4]))),
        Example("padded sentence", sentence_padding, (mine, 128),
         100 * float(mine.probability[1, 0, 4])),
        Example("ids", token_ids, (mine,), len(PIECES)),
        Example("direction", accuracy_by_direction, (directions, BASELINE),
         100 * float(((directions.probability[1] >= 0.5) == directions.positive).mean())),
    )  # fmt: skip


def _of_trainings() -> tuple[Example, ...]:
    result, some = systems(), tuned()
    first, second = right(0.79, 8), right(0.87, 9)
    a, b = running(first), running(second)
    pair = mcnemar(first, second)
    settings = TuneSettings(regime="lora", epochs=3, runs=2)
    records = trail(settings)
    bayes = searched()
    by_head = float(((result[3].probability >= 0.5) == truth()).mean())
    small = count(MINILM, "lora")
    return (
        Example("systems", system_accuracies, (result, truth(), "head_mean", baseline(), REPORTED),
         100 * by_head),
        Example("systems, ours alone", system_accuracies,
         (result[:4], truth(), "head_mean", baseline()), 100 * by_head),
        Example("curves", learning_curves, (some, None, baseline()),
         100 * float(some.validation.mean(0).max())),
        Example("curves, text", learning_curves, (some, CURVES[1], baseline()),
         float(some.loss.mean(0)[-1])),
        Example("progress", training_progress, (records, settings, baseline()),
         float(records[-1].loss)),
        Example("progress, nothing yet", training_progress, ([], settings, baseline()), 2),
        Example("modes", train_and_eval, (modes(),), 100 * float(modes().probability[1].max())),
        Example("search", search_trials, (bayes, surface()), 100 * float(bayes.validation.max())),
        Example("search, no map", search_trials, (searched("random"),),
         100 * float(searched("random").validation.max())),
        Example("best so far", best_so_far, (tuple(map(searched, ("grid", "random", "bayes"))),),
         100 * float(bayes.validation.max())),
        Example("running", running_accuracy, (a, b, NAMES, 500), 100 * float(a.share[499])),
        Example("paired", paired_answers, (pair, NAMES), pair.only_first),
        Example("confusion", confusion_matrices, (*confusions(), NAMES),
         int(confusions()[0].counts[1, 1])),
        Example("parameters of parts", parameter_counts, (small, "MiniLM, LoRA"),
         100 * small.trainable / small.total),
        Example("parameters, bert-base", parameter_counts, (count(BERT_BASE, "head"), "bert-base"),
         100 * 1538 / 109_483_778),
    )  # fmt: skip
