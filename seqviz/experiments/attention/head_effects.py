"""Effect of ablating each head of a model alone, and mean head outputs for mean ablation."""

from __future__ import annotations

from typing import Any

import numpy as np

from seqviz.compute.attention.results import Effects, MeanOutputs
from seqviz.compute.attention.tokens import Tokens
from seqviz.data.reviews import sentiment_split
from seqviz.jobs import Report, no_progress
from seqviz.models import attention_hook as taps
from seqviz.models import forward_cache, texts
from seqviz.models.pretrained import Pretrained, load
from seqviz.models.texts import ModelText


def each_head(model: str, text: ModelText, report: Report = no_progress) -> Effects:
    """Measure the effect of zeroing each head alone (a job).

    One forward pass per layer; each row of its batch has another head of the layer switched off.

    Args:
        model: name of the model.
        text: the text.
        report: progress callback; receives the `Effects` so far, nan for heads not done.

    References:
        Michel, Levy and Neubig (2019), who measure a complete test set.
    """
    import torch

    pretrained = load(model)
    before = forward_cache.read(model, text)
    layers, heads = before.weights.shape[:2]
    tokens = before.tokens
    last = int(tokens.real.sum()) - 1
    ids, segments = (np.repeat(x[None], heads, 0) for x in (tokens.ids, tokens.segments))
    change = np.full((layers, heads), np.nan)
    decoder = bool(before.following.size)
    for layer in range(layers):
        on = torch.ones(heads, layers, heads)
        on[:, layer] -= torch.eye(heads)

        def stopped(done: int, layer: int = layer) -> None:
            share = (layer + done / layers) / layers
            report(Effects(change.copy(), decoder, share), share)

        def work(network: Any, device: str, on: torch.Tensor = on) -> torch.Tensor:
            hook = taps.AttentionHook(on=on.to(device), note=False, each=stopped)
            with taps.hooked(hook):
                output = forward_cache.run_network(network, pretrained, ids, segments, device)
            return output.logits[:, last] if decoder else output.last_hidden_state

        result = pretrained.run(work)
        if decoder:
            q = torch.log_softmax(result.double(), -1).cpu().numpy() / np.log(2)
            p = before.following
            terms = p * (np.log2(np.maximum(p, np.finfo(float).tiny)) - q)
            change[layer] = terms.sum(-1)
        else:
            means = result[:, : last + 1].double().mean(1).cpu().numpy()
            means /= np.linalg.norm(means, axis=1, keepdims=True)
            change[layer] = 0.5 * ((means - before.sentence) ** 2).sum(1)  # 1 - cosine
    return Effects(change, decoder, 1.0)


SENTENCES = 100  # film reviews


def mean_outputs(model: str, report: Report = no_progress) -> MeanOutputs:
    """Measure the mean output of each head over 100 film reviews, for mean ablation (a job).

    Zeroing a head also removes the part of its output that is the same for any text; replacing the
    output by its mean keeps that part.

    Args:
        model: name of the model.
        report: progress callback; receives the share done.

    References:
        Wang et al. (2023), section 2.
    """
    pretrained = load(model)
    total: Any = 0.0
    tokens = 0
    for done, sentence in enumerate(sentiment_split()[1].texts[:SENTENCES], 1):
        read = texts.tokens(pretrained, sentence)
        total = total + pretrained.run(_sums, pretrained, read).double().cpu().numpy()
        tokens += len(read.ids)
        report(done / SENTENCES, done / SENTENCES)
    return MeanOutputs(np.asarray(total / tokens), SENTENCES, tokens, 1.0)


def _sums(network: Any, device: str, pretrained: Pretrained, read: Tokens) -> Any:
    """Return each head's contribution to the residual stream, summed over the tokens of a text."""
    import torch

    with taps.hooked(taps.AttentionHook(note=False, sums=[])) as hook:
        ids, segments = read.ids[None], read.segments[None]
        forward_cache.run_network(network, pretrained, ids, segments, device)
    assert hook.sums is not None
    return torch.stack(hook.sums)
