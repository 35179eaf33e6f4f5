"""Loading: once for everybody, whole or refused, within the memory there is."""

from __future__ import annotations

import json
import time

import pytest
import torch
from safetensors.torch import load, save

from seqviz.core.errors import UserError
from seqviz.models import pretrained, store
from tests.models.hub import WORDS, sentence_ids, together


@pytest.fixture
def weights(tiny_files):
    """The weights after something has been done to them."""

    def changed(change):
        tensors = load(tiny_files["model.safetensors"])
        return save(change(tensors), metadata={"format": "pt"})

    return changed


def test_load_returns_complete_frozen_network(put, tiny_files):
    put()
    result = pretrained.load("tiny")
    assert (result.device, result.dtype, result.origin, result.note) == (
        "cpu",
        "float32",
        "hub",
        "",
    )
    assert not result.network.training
    tensors = load(tiny_files["model.safetensors"])
    state = result.network.state_dict()
    assert set(tensors) == set(state)
    assert all(torch.equal(state[key], tensors[key]) for key in tensors)
    assert not any(parameter.requires_grad for parameter in result.network.parameters())
    assert result.tokenizer("The cat sat")["input_ids"] == sentence_ids()[0].tolist()
    out = result.run(
        lambda network, position: network(sentence_ids().to(position)).last_hidden_state
    )
    assert not out.requires_grad
    assert out.shape == (1, 5, 16)


@pytest.mark.parametrize("students", [2, 8])
def test_load_runs_once_for_concurrent_callers(put, students, monkeypatch):
    put()
    verified, verify = [], store.verify

    def counted(name):
        verified.append(name)
        time.sleep(0.1)  # so that they do meet
        return verify(name)

    monkeypatch.setattr(store, "verify", counted)
    results = []
    together(*[lambda: results.append(pretrained.load("tiny"))] * students)
    assert verified == ["tiny"]
    assert len(results) == students
    assert len({id(item) for item in results}) == 1
    assert pretrained.loaded("tiny")


def test_load_can_be_retried_after_failure(put, cache):
    for _ in range(2):
        assert "not on this machine yet" in str(refused("not_fetched"))
    put()
    pretrained.load("tiny")


# Files that are what the manifest says and do not fit together


def refused(code, name="tiny"):
    with pytest.raises(UserError) as caught:
        pretrained.load(name)
    assert caught.value.code == code
    assert not pretrained.loaded(name)
    return caught.value


def broken():
    assert refused("model_broken").details == {"model": "Tiny BERT", "name": "tiny"}


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
def test_load_rejects_config_of_another_model(put, config, changes):
    put(config__json=config(**changes))
    broken()


def test_load_rejects_surplus_weights_of_unregistered_model(put, config, monkeypatch):
    monkeypatch.setenv("SEQVIZ_MODELS", "encoder:tiny/bert")
    put("tiny_bert", config__json=config(num_hidden_layers=1))
    refused("model_broken", "tiny_bert")


@pytest.mark.parametrize("data", [b"", b"{", b"[]", b"null", b"\xff\xfe\x00"])
@pytest.mark.parametrize("name", ["config.json", "tokenizer.json", "model.safetensors"])
def test_load_rejects_malformed_file(put, name, data):
    put(**{name.replace(".", "__"): data})
    broken()


def test_load_rejects_missing_tensor(put, weights):
    lacking = "encoder.layer.1.attention.self.query.weight"
    put(model__safetensors=weights(lambda w: {k: v for k, v in w.items() if k != lacking}))
    broken()


def test_load_rejects_tokenizer_larger_than_embedding(put, tiny_files):
    raw = json.loads(tiny_files["tokenizer.json"])
    raw["model"]["vocab"]["surplus"] = len(WORDS)
    put(tokenizer__json=json.dumps(raw).encode())
    broken()


def test_load_rejects_missing_vocabulary(put):
    put(tokenizer__json=None, vocab__txt=None)  # transformers would make every word [UNK]
    refused("not_fetched")


def test_fetch_again_repairs_broken_model(put, hub, config):
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
def test_load_accepts_common_encoder_weight_layouts(put, weights, tiny_files, change):
    put(model__safetensors=weights(change))
    result = pretrained.load("tiny").network.state_dict()
    expected = load(tiny_files["model.safetensors"])
    same = [k for k in expected if not k.startswith("pooler.")]
    assert all(torch.equal(result[key], expected[key]) for key in same)
