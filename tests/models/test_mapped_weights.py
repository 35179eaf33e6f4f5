"""Weights in memory do not lean on their file: one that is cut short later ends nothing."""

from __future__ import annotations

import subprocess
import sys

import pytest
import torch
from safetensors import safe_open
from safetensors.torch import save_file

from seqviz.experiments.bert_accuracy import adapted
from seqviz.models import pretrained
from tests.models.hub import REPO

CUT = """
import os, sys, torch
from tests.models.hub import record, sentence_ids
from seqviz.models import pretrained, registry, store
registry.MODELS = (record(),)
found = pretrained.load("tiny")
before = found.network(sentence_ids()).last_hidden_state
os.truncate(store.verify("tiny").folder / "model.safetensors", 0)
assert torch.equal(found.network(sentence_ids()).last_hidden_state, before)
print("whole")
"""


@pytest.mark.skipif(sys.platform == "win32", reason="a file in use cannot be cut there")
def test_loaded_model_survives_truncated_weights_file(put):
    put()
    done = subprocess.run(
        [sys.executable, "-c", CUT], capture_output=True, text=True, timeout=60, cwd=REPO
    )
    assert (done.returncode, done.stdout) == (0, "whole\n"), done.stderr[-500:]


def test_unmapped_copies_tensors_and_keeps_ties():
    from transformers import GPT2Config, GPT2LMHeadModel

    network = GPT2LMHeadModel(GPT2Config(vocab_size=20, n_embd=8, n_layer=1, n_head=2)).eval()
    network.register_buffer("turned", torch.arange(6.0).reshape(2, 3).t())
    before = {key: value.clone() for key, value in network.state_dict().items()}
    held = [item.data for item in (*network.parameters(), *network.buffers())]
    positions = {item.data_ptr() for item in held}
    pretrained.unmapped(network)
    assert network.lm_head.weight is network.transformer.wte.weight
    after = network.state_dict()
    assert all(torch.equal(after[key], value) for key, value in before.items())
    assert not positions & {item.data_ptr() for item in (*network.parameters(), *network.buffers())}


def lies_in(path, address: int) -> bool:
    """Whether this process has the file at that address of its memory."""
    with open("/proc/self/maps") as maps:
        spans = [line.split()[0].split("-") for line in maps if path.name in line]
    return any(int(start, 16) <= address < int(end, 16) for start, end in spans)


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads Linux's /proc")
def test_own_copies_mapped_tensor_to_memory(tmp_path):
    """The NumPy reader of safetensors copies by itself."""
    path = tmp_path / "weights_of_a_head.safetensors"
    save_file({"a": torch.ones(64, 64)}, path)
    with safe_open(path, framework="pt") as file:
        read = file.get_tensor("a")
    assert lies_in(path, read.data_ptr())  # else none of this is needed
    owned = adapted._own(read)
    assert torch.equal(owned, read)
    assert not lies_in(path, owned.data_ptr())
    with safe_open(path, framework="numpy") as file:  # as `checkpoints` reads
        assert not lies_in(path, file.get_tensor("a").ctypes.data)
