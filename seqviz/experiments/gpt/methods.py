"""Human texts compared to continuations of the same beginnings by a decoder.

After Holtzman et al. (2020), "The Curious Case of Neural Text Degeneration", with other texts and
another model.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from jaxtyping import Float, Int

from seqviz.compute.gpt import draw
from seqviz.compute.gpt.filters import Chain
from seqviz.compute.gpt.methods import BEAMS, HOT, METHODS, NUCLEUS, ByMethod
from seqviz.data.reviews import editorials
from seqviz.experiments.gpt.beam import search
from seqviz.experiments.gpt.surprise import expected
from seqviz.jobs import Report, no_progress
from seqviz.models import texts as reading
from seqviz.models.kv_tree import ROOT, KVCacheTree, ends
from seqviz.models.pretrained import Pretrained, decoder

TEXTS, BEGINNING, STEPS = 100, 8, 20
READ = 9  # example of seed 0 without an offensive continuation
_FILTERS = {
    "greedy": Chain(), "nucleus": Chain(top_p=NUCLEUS), "hot": Chain(temperature=HOT),
    "plain": Chain(),
}  # fmt: skip
DRAWN = tuple(_FILTERS)  # methods that write token by token


def by_method(
    model: str, texts: int = TEXTS, seed: int = 0, report: Report = no_progress
) -> ByMethod:
    """Measure bits and entropy of each method's continuations of newspaper sentences (a job).

    Args:
        model: name of the decoder.
        texts: number of sentences.
        seed: seed of the choice of sentences and of the sampled tokens.
        report: progress callback; receives the share done.

    Raises:
        UserError: errors of `decoder`.
    """
    pretrained = decoder(model)
    chosen = sentences(pretrained, texts, seed)
    bits = np.full((len(METHODS), texts, STEPS), np.nan)
    entropy = np.full(bits.shape, np.nan)
    first: list[tuple[int, ...]] = []
    for number, ids in enumerate(chosen):
        uniforms = np.random.RandomState([seed, number]).uniform(size=(len(DRAWN), STEPS))
        read = pretrained.run(_read, ends(pretrained), ids, uniforms)
        for row, (_, *costs) in enumerate(read):
            for to, part in zip((bits, entropy), costs, strict=True):
                to[row, number, : len(part)] = part
        if number == min(READ, texts - 1):
            first = [tuple(full) for full, *_ in read]
        report((number + 1) / texts, (number + 1) / texts)
    names = [tuple(reading.piece(pretrained, int(item)) for item in ids) for ids in first]
    pieces = tuple(name[BEGINNING:] for name in names)
    return ByMethod(
        bits.astype(np.float16), np.nanmean(entropy, axis=1), names[0][:BEGINNING], pieces
    )


def sentences(pretrained: Pretrained, count: int, seed: int) -> list[Int[np.ndarray, "token"]]:
    """Return the first tokens of long enough sentences, drawn from the bundled editorials.

    Args:
        pretrained: the decoder.
        count: number of sentences.
        seed: random seed.

    Returns:
        `BEGINNING + STEPS` token ids of each.
    """
    every = editorials().texts
    results: list[np.ndarray] = []
    for position in np.random.RandomState(seed).permutation(len(every)):
        ids = reading.tokens(pretrained, every[position]).ids
        if len(ids) >= BEGINNING + STEPS:
            results.append(ids[: BEGINNING + STEPS])
        if len(results) == count:
            break
    return results


def _read(
    network: Any, device: str, last: frozenset[int], ids: Int[np.ndarray, "token"],
    uniforms: Float[np.ndarray, "method step"],
) -> list[tuple[np.ndarray, np.ndarray, np.ndarray]]:  # fmt: skip
    """Return every text with bits and entropy of the tokens after the beginning."""
    results = []
    for full in written(KVCacheTree(network, device, ids[:BEGINNING]), last, ids, uniforms):
        bits, entropy, *_ = expected(network, device, full)[0]
        results.append((full, bits[BEGINNING - 1 :], entropy[BEGINNING - 1 :]))
    return results


def written(
    tree: KVCacheTree, last: frozenset[int], ids: Int[np.ndarray, "token"],
    uniforms: Float[np.ndarray, "method step"],
) -> list[Int[np.ndarray, "token"]]:  # fmt: skip
    """Return the beginning with each continuation, in the order of `METHODS`.

    Args:
        tree: tree that holds the beginning.
        last: ids of the tokens that end a text.
        ids: token ids of the human text.
        uniforms: numbers in [0, 1) for the sampled tokens.
    """
    tokens: dict[str, list[int]] = {name: [] for name in DRAWN}
    going, nodes, logits = list(DRAWN), [ROOT] * len(DRAWN), [tree.logits] * len(DRAWN)
    for step in range(STEPS):
        for name, row in zip(going, logits, strict=True):
            u = float(uniforms[DRAWN.index(name), step])
            scores = _FILTERS[name](draw.scores(row.cpu().numpy()), ())
            greedy = name == "greedy"
            tokens[name].append(int(scores.argmax()) if greedy else draw.draw(scores, u))
        still = [k for k, name in enumerate(going) if tokens[name][-1] not in last]
        if not still or step + 1 == STEPS:
            break
        going, nodes = [going[k] for k in still], [nodes[k] for k in still]
        nodes, grown = tree.extend(nodes, [tokens[name][-1] for name in going])
        logits = list(grown)
    best, _ = search(tree, last, BEAMS, STEPS, 1.0)
    texts = {"human": list(ids[BEGINNING:]), "beam": list(best[0][2]), **tokens}
    return [np.concatenate([ids[:BEGINNING], texts[name]]) for name in METHODS]
