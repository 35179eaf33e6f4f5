"""Too little memory, in the machine or on the GPU: a sentence or the CPU, never a crash."""

from __future__ import annotations

import dataclasses
import json
import subprocess
import sys
import threading

import pytest
import torch
from safetensors.torch import save

from seqviz.models import pretrained
from tests.models.hub import REPO, sentence_ids, together

LONG = 60.0  # seconds; a bound that is reached only when something hangs

LIMITED = """
import resource, sys
from seqviz.models import pretrained, registry, store
from tests.models.hub import record
registry.MODELS = (record(), record("big", layers=1, parameters=0))
pretrained.load("tiny")  # so that all imports are done
size = int(next(l for l in open("/proc/self/status") if l.startswith("VmSize")).split()[1]) * 1024
for more in (20e6, 150e6):
    resource.setrlimit(resource.RLIMIT_AS, (int(size + more), resource.RLIM_INFINITY))
    try:
        pretrained.load("big")
        print("loaded")
    except Exception as error:
        print(type(error).__name__, getattr(error, "code", error))
resource.setrlimit(resource.RLIMIT_AS, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
print(pretrained.load("big").network.config.hidden_size)
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="limits are Linux's")
def test_load_rejects_on_low_memory_and_process_survives(put, config):
    from transformers import BertConfig, BertModel

    put()
    changes = {"vocab_size": 200_000, "hidden_size": 128, "num_hidden_layers": 1}
    network = BertModel(BertConfig(**{**json.loads(config()), **changes}))
    # 103 MB: at 20 MB reading the file fails, at 150 MB placing it
    put("big", config__json=config(**changes), model__safetensors=save(network.state_dict()))
    message = subprocess.run(
        [sys.executable, "-c", LIMITED], capture_output=True, text=True, timeout=LONG, cwd=REPO
    )
    assert message.stdout.split("\n")[:3] == ["UserError no_memory"] * 2 + ["128"], message.stderr


# The GPU


def test_run_falls_back_to_cpu_with_note_on_gpu_oom(put):
    put()
    shared = pretrained.load("tiny")
    pretend = dataclasses.replace(shared, device="cuda")  # the tensors are on the CPU all the time
    positions = []

    def work(network, device):
        positions.append((network, device))
        if device == "cuda":
            raise torch.OutOfMemoryError("CUDA out of memory.")
        return network(sentence_ids().to(device)).last_hidden_state

    result = pretend.run(work)
    assert [position for _, position in positions] == ["cuda", "cpu"]
    assert (pretend.device, pretend.note) == ("cpu", "out_of_gpu_memory")
    # whoever is computing on the GPU at this moment keeps a whole network there
    assert positions[0][0] is shared.network is not positions[1][0]
    expected = shared.run(lambda network, position: network(sentence_ids()).last_hidden_state)
    assert torch.equal(result, expected)
    pretend.run(work)
    assert [position for _, position in positions] == ["cuda", "cpu", "cpu"]


def test_on_cpu_keeps_tied_weights():
    from transformers import GPT2Config, GPT2LMHeadModel

    network = GPT2LMHeadModel(GPT2Config(vocab_size=20, n_embd=8, n_layer=1, n_head=2)).eval()
    result = pretrained._on_cpu(network)
    assert result.lm_head.weight is result.transformer.wte.weight
    assert result.lm_head.weight is not network.lm_head.weight
    assert torch.equal(result(sentence_ids()).logits, network(sentence_ids()).logits)


def test_run_makes_one_cpu_copy_for_concurrent_gpu_oom(put):
    put()
    pretend = dataclasses.replace(pretrained.load("tiny"), device="cuda")
    barrier, networks = threading.Barrier(2), []

    def work(network, device):
        if device == "cuda":
            barrier.wait(LONG)
            raise torch.OutOfMemoryError("CUDA out of memory.")
        networks.append(network)

    together(*[lambda: pretend.run(work)] * 2)
    assert networks == [pretend.network] * 2


@pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA on this machine")
def test_run_falls_back_to_cpu_on_real_gpu_oom(put, monkeypatch):
    put()
    monkeypatch.setenv("SEQVIZ_DEVICE", "cuda")
    pretrained.device.choose.cache_clear()
    result = pretrained.load("tiny")
    assert result.device == "cuda"

    def work(network, device):
        if device == "cuda":  # more than any GPU has: 4 TB
            torch.empty(10**12, device=device)
        return network(sentence_ids().to(device)).last_hidden_state

    assert result.run(work).device.type == "cpu"
    assert (result.device, result.note) == ("cpu", "out_of_gpu_memory")
