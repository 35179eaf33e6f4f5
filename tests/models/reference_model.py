"""The same weights with transformers' own attention: the second implementation for these tests."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

import pytest
import torch

from seqviz.models import forward_cache, pretrained
from seqviz.models.pretrained import Pretrained


def cut_off(model: Pretrained, layers: int) -> Pretrained:
    """A decoder of the first layers of this one, whose weights it shares.

    What our code and the library make of the same weights is compared: that is the same claim at
    any depth, and a few layers are read in a fraction of the time.
    """
    network = copy.deepcopy(model.network, {id(p): p for p in model.network.parameters()})
    network.model.layers = network.model.layers[:layers]
    network.config.num_hidden_layers = layers
    return replace(model, network=network, card=replace(model.card, layers=layers))


@contextmanager
def in_place(model: Pretrained) -> Iterator[Pretrained]:
    """This one is what is found under its name, and nothing has been read by it."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(pretrained._loaded, model.card.name, model)
        patch.setattr(forward_cache, "_shelf", forward_cache.ForwardCache())
        yield model


def eager(model, rerun=()):
    """The network of a loaded model with the library's own attention.

    It shares its weights with the loaded one, but for those whose names end in `rerun`, which are
    copies that a test may change.
    """
    network = model.network
    shared = {
        id(p): p for name, p in network.named_parameters() if not name.endswith(tuple(rerun) or "?")
    }
    other = copy.deepcopy(network, shared)
    other.set_attn_implementation("eager")
    return other


def reported(job, *arguments, **keywords):
    """(result, what it has told on its way) of a job that runs here and now."""
    reports = []
    result = job(*arguments, report=lambda *report: reports.append(report), **keywords)
    return result, reports


def passed(network, tokens, allowed=None):
    """(weights [layer, head, query, key], last hidden state, output) of one pass, in float32.

    allowed: [query, key] in place of the network's own mask.
    """
    options = {}
    if network.config.model_type == "bert":
        options["token_type_ids"] = torch.tensor(tokens.segments[None])
    if allowed is not None:
        lowest = torch.finfo(torch.float32).min
        options["attention_mask"] = torch.where(torch.tensor(allowed), 0.0, lowest)[None, None]
    ids = torch.tensor(tokens.ids[None])
    with torch.inference_mode():
        output = network(ids, output_attentions=True, output_hidden_states=True, **options)
    weights = torch.cat(output.attentions).numpy()
    return weights, output.hidden_states[-1][0].numpy(), output
