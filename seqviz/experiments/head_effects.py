"""What is lost when one head alone is switched off, for every head of a model."""

from __future__ import annotations

from typing import Any

import numpy as np

from seqviz.compute.attention.findings import Effects
from seqviz.jobs import Report, silent
from seqviz.models import forward_cache
from seqviz.models import tap as taps
from seqviz.models.pretrained import load
from seqviz.models.texts import Read


def each_head(model: str, text: Read, report: Report = silent, device: str = "cpu") -> Effects:
    """A job: one pass per layer, in which each text of a batch has another head switched off.

    Michel, Levy and Neubig (2019) ask the same of a whole test set. (`device` names the queue.)
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

        def work(network: Any, place: str, on: torch.Tensor = on) -> torch.Tensor:
            tap = taps.Tap(on=on.to(place), note=False, each=stopped)
            with taps.tapped(tap):
                output = forward_cache.run_network(network, pretrained, ids, segments, place)
            return output.logits[:, last] if decoder else output.last_hidden_state

        found = pretrained.run(work)
        if decoder:
            q = torch.log_softmax(found.double(), -1).cpu().numpy() / np.log(2)
            p = before.following
            terms = p * (np.log2(np.maximum(p, np.finfo(float).tiny)) - q)
            change[layer] = terms.sum(-1)
        else:
            means = found[:, : last + 1].double().mean(1).cpu().numpy()
            means /= np.linalg.norm(means, axis=1, keepdims=True)
            change[layer] = 0.5 * ((means - before.sentence) ** 2).sum(1)  # 1 - cosine
    return Effects(change, decoder, 1.0)
