"""Fitted lens of a decoder: a linear map from the stream after a layer to the last one.

The maps are fitted by least squares, and of low rank. Din et al. (2023) use linear shortcuts
between layers; Belrose et al. (2023) train such maps for the final distribution (tuned lens).
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
from jaxtyping import Float

from seqviz.compute.attention.tokens import Tokens
from seqviz.compute.transformer.interpretability.fitted_lens import TunedLens, fit, roots
from seqviz.data.reviews import sentiment_split
from seqviz.experiments.transformer import functional
from seqviz.experiments.transformer.interpretability.removal import beginnings
from seqviz.jobs import Report, no_progress
from seqviz.models import texts
from seqviz.models.pretrained import Pretrained, load

RANK = 16
TEXTS = 1_000  # film reviews for fitting
MEASURED = 100  # beginnings of other reviews for measuring
_TOGETHER = 50
_FITTED = 0.6  # share of the work that fitting takes


def fit_lens(model: str, report: Report = no_progress) -> TunedLens:
    """Fit a map of rank 16 for the embedding and each layer but the last, and its KL (a job).

    The maps are fitted on film reviews; both lenses are measured on others.

    Args:
        model: name of the decoder.
        report: progress callback; receives the share done.
    """
    pretrained = load(model)
    layers = pretrained.network.config.num_hidden_layers
    width = pretrained.network.config.hidden_size
    cross = np.zeros((layers, 2 * width + 1, 2 * width + 1))
    sentences = sentiment_split()[0].texts[:TEXTS]
    count = 0
    for start in range(0, TEXTS, _TOGETHER):
        some = sentences[start : start + _TOGETHER]
        results = [pretrained.run(normalized, texts.tokens(pretrained, item)) for item in some]
        streams = np.concatenate(results, 1)
        count += streams.shape[1]
        ones = np.ones((streams.shape[1], 1), np.float32)
        for layer, stream in enumerate(streams[:-1]):
            both = np.hstack([stream, streams[-1], ones])
            cross[layer] += both.T @ both
        report(_FITTED * (start + len(some)) / TEXTS, _FITTED * (start + len(some)) / TEXTS)
    root = roots(_metric(pretrained))
    # Half precision halves the file; the measurements below include its rounding.
    down, up, shift = (
        np.stack(part).astype(np.float16)
        for part in zip(*(fit(item, root, RANK) for item in cross), strict=True)
    )
    maps = TunedLens(down, up, shift, np.zeros((2, 0, layers)), np.zeros(0), count)
    mean = (cross[0][-1, width:-1] / count).astype(np.float32)
    bits, constant = [], []
    for done, tokens in enumerate(beginnings(pretrained)[:MEASURED], 1):
        streams = pretrained.run(normalized, tokens)
        end, rows = streams[-1], streams[:-1]
        bits.append([pretrained.run(_bits, end, item) for item in (rows, maps.read(rows))])
        constant.append(pretrained.run(_bits, end, np.broadcast_to(mean, (1, *end.shape)))[0])
        share = _FITTED + (1 - _FITTED) * done / MEASURED
        report(share, share)
    return replace(maps, bits=np.stack(bits, 1), constant=np.array(constant))


def normalized(network: Any, device: str, tokens: Tokens) -> Float[np.ndarray, "row token d_model"]:
    """Return the embedding and the stream after each layer, divided by the root mean square.

    Args:
        network: the network.
        device: torch device.
        tokens: tokens of a text.
    """
    import torch

    parts = functional.NetworkParts(network, tokens.ids, tokens.segments, device)
    streams = [parts.first[0]]
    functional.forward(
        parts,
        (functional.Variant(),),
        lambda part, _, x: streams.append(x[0]) if part == "stream" else None,
    )
    x = torch.stack(streams).float()
    return (x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True))).cpu().numpy()


def _metric(pretrained: Pretrained) -> Float[np.ndarray, "d_model d_model"]:
    """Return the metric of the normalized stream: the squared change of all logits."""
    network = pretrained.network
    reads = (network.lm_head.weight * network.model.norm.weight).detach().float().cpu()
    return np.asarray((reads.T @ reads).numpy(), float)


def _bits(
    network: Any,
    device: str,
    end: Float[np.ndarray, "token d_model"],
    rows: Float[np.ndarray, "row token d_model"],
) -> Float[np.ndarray, "row"]:
    """Return KL(end || row) of the predictions in bits, the mean over the tokens, per row."""
    import torch

    def say(x: np.ndarray) -> Any:
        item = torch.tensor(x, dtype=torch.float32, device=device) * network.model.norm.weight
        return torch.log_softmax(network.lm_head(item), -1)

    message = say(end)
    probabilities = message.exp()
    results = [float((probabilities * (message - say(x))).sum(-1).mean()) for x in rows]
    return np.array(results) / math.log(2)
