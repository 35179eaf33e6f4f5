"""Loading: once for everybody, whole or refused, within the memory there is."""

from __future__ import annotations

import dataclasses
import json
import subprocess
import sys
import threading
import time

import pytest
import torch
from hub import REPO, WORDS, sha256
from safetensors.torch import load, save

from seqviz.models import pretrained, store
from seqviz.refusal import Refusal

LONG = 60.0  # seconds; a bound that is reached only when something hangs


@pytest.fixture
def put(cache, tiny_files):
    """Put a model into the cache, its manifest in order, with some files changed or (None) gone."""

    def into(name="tiny", **changes):
        folder = cache / "models" / name
        folder.mkdir(parents=True)
        files = {**tiny_files, **{key.replace("__", "."): data for key, data in changes.items()}}
        files = {key: data for key, data in files.items() if data is not None}
        for key, data in files.items():
            (folder / key).write_bytes(data)
        checksums = {key: sha256(data) for key, data in files.items()}
        manifest = {"origin": "hub", "version": "1", "date": "2026-01-01", "files": checksums}
        (folder / store.MANIFEST).write_text(json.dumps(manifest))
        return folder

    return into


@pytest.fixture
def config(tiny_files):
    """The configuration with something changed."""
    return lambda **changes: json.dumps(
        {**json.loads(tiny_files["config.json"]), **changes}
    ).encode()


@pytest.fixture
def weights(tiny_files):
    """The weights after something has been done to them."""

    def changed(change):
        tensors = load(tiny_files["model.safetensors"])
        return save(change(tensors), metadata={"format": "pt"})

    return changed


def ids(text="the cat sat"):
    return torch.tensor([[2, *(WORDS.index(word) for word in text.split()), 3]])


def test_what_is_loaded_is_whole_and_quiet(put, tiny_files):
    put()
    found = pretrained.load("tiny")
    assert (found.device, found.dtype, found.origin, found.note) == ("cpu", "float32", "hub", "")
    assert not found.network.training
    tensors = load(tiny_files["model.safetensors"])
    state = found.network.state_dict()
    assert set(tensors) == set(state)
    assert all(torch.equal(state[key], tensors[key]) for key in tensors)
    assert not any(one.requires_grad for one in found.network.parameters())
    assert found.tokenizer("The cat sat")["input_ids"] == ids()[0].tolist()
    out = found.run(lambda network, place: network(ids().to(place)).last_hidden_state)
    assert not out.requires_grad
    assert out.shape == (1, 5, 16)


@pytest.mark.parametrize("students", [2, 8])
def test_students_who_ask_at_once_wait_for_one_loading(put, students, monkeypatch):
    put()
    verified, verify = [], store.verify

    def counted(name):
        verified.append(name)
        time.sleep(0.1)  # so that they do meet
        return verify(name)

    monkeypatch.setattr(store, "verify", counted)
    found, barrier = [], threading.Barrier(students)

    def ask():
        barrier.wait(LONG)
        found.append(pretrained.load("tiny"))

    threads = [threading.Thread(target=ask) for _ in range(students)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(LONG)
    assert verified == ["tiny"]
    assert len(found) == students
    assert len({id(one) for one in found}) == 1
    assert pretrained.loaded("tiny")


def test_a_failed_loading_can_be_tried_again(put, cache):
    for _ in range(2):
        with pytest.raises(Refusal, match="not on this machine yet") as caught:
            pretrained.load("tiny")
        assert caught.value.code == "not_fetched"
        assert not pretrained.loaded("tiny")
    put()
    pretrained.load("tiny")


# Files that are what the manifest says and do not fit together


def broken():
    with pytest.raises(Refusal) as caught:
        pretrained.load("tiny")
    assert caught.value.code == "model_broken"
    assert caught.value.details == {"model": "Tiny BERT", "name": "tiny"}
    assert not pretrained.loaded("tiny")


@pytest.mark.parametrize(
    "changes",
    [
        {"hidden_size": 32},
        {"vocab_size": 100},
        {"max_position_embeddings": 32},
        {"num_hidden_layers": 1},  # transformers would drop a layer and say so in its log
        {"num_hidden_layers": 3},  # or add a random one
        {"num_attention_heads": 3},
        {"num_attention_heads": 4},  # fits all shapes: only the registry knows better
        {"model_type": "distilbert"},  # all weights random
        {"model_type": "nonsense"},
        {"model_type": "nonsense", "auto_map": {"AutoModel": "evil.Model"}},
    ],
)
def test_a_configuration_of_another_model(put, config, changes):
    put(config__json=config(**changes))
    broken()


@pytest.mark.parametrize("data", [b"", b"{", b"[]", b"null", b"\xff\xfe\x00"])
@pytest.mark.parametrize("name", ["config.json", "tokenizer.json", "model.safetensors"])
def test_files_that_are_something_else(put, name, data):
    put(**{name.replace(".", "__"): data})
    broken()


def test_weights_that_lack_a_tensor(put, weights):
    lacking = "encoder.layer.1.attention.self.query.weight"
    put(model__safetensors=weights(lambda w: {k: v for k, v in w.items() if k != lacking}))
    broken()


def test_a_tokenizer_with_more_words_than_the_network(put, tiny_files):
    raw = json.loads(tiny_files["tokenizer.json"])
    raw["model"]["vocab"]["surplus"] = len(WORDS)
    put(tokenizer__json=json.dumps(raw).encode())
    broken()


def test_without_a_vocabulary_there_is_no_model(put):
    put(tokenizer__json=None, vocab__txt=None)  # transformers would make every word [UNK]
    with pytest.raises(Refusal) as caught:
        pretrained.load("tiny")
    assert caught.value.code == "not_fetched"


def test_fetching_again_mends_a_broken_model(put, hub, config):
    put(config__json=config(num_hidden_layers=3))
    broken()
    store.fetch("tiny", again=True)
    pretrained.load("tiny")


@pytest.mark.parametrize(
    "change",
    [
        lambda w: {k: v for k, v in w.items() if not k.startswith("pooler.")},
        lambda w: {**w, "embeddings.position_ids": torch.arange(64)[None]},
        lambda w: {"cls.predictions.bias": torch.zeros(63), **{f"bert.{k}": w[k] for k in w}},
    ],
    ids=["without pooler", "with stored positions", "with the head of another task"],
)
def test_weights_as_encoders_really_come(put, weights, tiny_files, change):
    put(model__safetensors=weights(change))
    found = pretrained.load("tiny").network.state_dict()
    wanted = load(tiny_files["model.safetensors"])
    same = [k for k in wanted if not k.startswith("pooler.")]
    assert all(torch.equal(found[key], wanted[key]) for key in same)


# Memory

LIMITED = """
import resource, sys
from seqviz.models import pretrained, registry, store
sys.path.insert(0, "tests/models")
from hub import record
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
def test_too_little_memory_is_a_refusal_and_the_process_lives_on(put, config):
    from transformers import BertConfig, BertModel

    put()
    changes = {"vocab_size": 200_000, "hidden_size": 128, "num_hidden_layers": 1}
    network = BertModel(BertConfig(**{**json.loads(config()), **changes}))
    # 103 MB: at 20 MB reading the file fails, at 150 MB placing it
    put("big", config__json=config(**changes), model__safetensors=save(network.state_dict()))
    said = subprocess.run(
        [sys.executable, "-c", LIMITED], capture_output=True, text=True, timeout=LONG, cwd=REPO
    )
    assert said.stdout.split("\n")[:3] == ["Refusal no_memory"] * 2 + ["128"], said.stderr


# The GPU


def test_out_of_gpu_memory_goes_on_with_the_cpu_and_says_so(put):
    put()
    shared = pretrained.load("tiny")
    pretend = dataclasses.replace(shared, device="cuda")  # the tensors are on the CPU all the time
    places = []

    def work(network, place):
        places.append((network, place))
        if place == "cuda":
            raise torch.OutOfMemoryError("CUDA out of memory.")
        return network(ids().to(place)).last_hidden_state

    found = pretend.run(work)
    assert [place for _, place in places] == ["cuda", "cpu"]
    assert (pretend.device, pretend.note) == ("cpu", "out_of_gpu_memory")
    # whoever is computing on the GPU at this moment keeps a whole network there
    assert places[0][0] is shared.network is not places[1][0]
    expected = shared.run(lambda network, place: network(ids()).last_hidden_state)
    assert torch.equal(found, expected)
    pretend.run(work)
    assert [place for _, place in places] == ["cuda", "cpu", "cpu"]


def test_tied_weights_stay_tied_in_the_copy_on_the_cpu():
    from transformers import GPT2Config, GPT2LMHeadModel

    network = GPT2LMHeadModel(GPT2Config(vocab_size=20, n_embd=8, n_layer=1, n_head=2)).eval()
    found = pretrained._on_cpu(network)
    assert found.lm_head.weight is found.transformer.wte.weight
    assert found.lm_head.weight is not network.lm_head.weight
    assert torch.equal(found(ids()).logits, network(ids()).logits)


def test_two_students_out_of_gpu_memory_at_once_make_one_copy(put):
    put()
    pretend = dataclasses.replace(pretrained.load("tiny"), device="cuda")
    barrier, networks = threading.Barrier(2), []

    def work(network, place):
        if place == "cuda":
            barrier.wait(LONG)
            raise torch.OutOfMemoryError("CUDA out of memory.")
        networks.append(network)

    threads = [threading.Thread(target=pretend.run, args=(work,)) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(LONG)
    assert networks == [pretend.network] * 2


@pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA on this machine")
def test_a_real_gpu_that_is_full(put, monkeypatch):
    put()
    monkeypatch.setenv("SEQVIZ_DEVICE", "cuda")
    pretrained.device.choose.cache_clear()
    found = pretrained.load("tiny")
    assert found.device == "cuda"

    def work(network, place):
        if place == "cuda":  # more than any GPU has: 4 TB
            torch.empty(10**12, device=place)
        return network(ids().to(place)).last_hidden_state

    assert found.run(work).device.type == "cpu"
    assert (found.device, found.note) == ("cpu", "out_of_gpu_memory")
