"""Position tables of real and of tiny models: the files', and another in place without a trace."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch
from safetensors import safe_open

from seqviz.compute.attention import patterns
from seqviz.compute.positions.results import VARIANTS
from seqviz.compute.positions.sinusoidal import encoding
from seqviz.core.errors import UserError
from seqviz.experiments import positions
from seqviz.models import attention_hook as taps
from seqviz.models import forward_cache, pretrained, registry, store, texts
from seqviz.models.pretrained import Pretrained
from tests.models.hub import WORDS
from tests.models.reference_model import eager, passed

MARY, JOHN = "Mary gave John a flower", "John gave Mary a flower"
LONGER = "Yesterday evening, at the old station, John gave a flower to Mary."
# float32: word + (new - own) + own differs from word + new by some 1e-7, which layers carry on.
FLOAT = 1e-5
TABLE = "position_embeddings.weight"


def put(network, variant: str, table: np.ndarray, maximum: int, seed: int, first: int = 0) -> None:
    """Another table into a copy of a network, written down once more from the words about it."""
    rows = table.copy()
    if variant == "zero":
        rows[:] = 0
    elif variant == "shuffled":
        for index, old in enumerate(np.random.RandomState(seed).permutation(maximum)):
            rows[index] = table[old]
    elif variant == "sinusoidal":
        sines = encoding(len(table), table.shape[1]).table
        length = np.sqrt((table.astype(float) ** 2).sum(1)).mean()
        rows[:] = sines / np.sqrt(table.shape[1] / 2) * length  # all rows of sines are equally long
    (weight,) = (p for name, p in network.named_parameters() if name.endswith(TABLE))
    with torch.no_grad():
        weight[first:] = torch.from_numpy(rows)


def vector(hidden: np.ndarray) -> np.ndarray:
    mean = hidden.astype(float).mean(0)
    return mean / np.linalg.norm(mean)


# ------------------------------------------------------------------------------------------- tables
def test_table_matches_weights_file(minilm):
    result = positions.table("minilm")
    with safe_open(store.verify("minilm").folder / "model.safetensors", "numpy") as file:
        names = list(file.keys())
        (position,) = (name for name in names if name.endswith(TABLE))
        (words,) = (name for name in names if name.endswith("word_embeddings.weight"))
        np.testing.assert_array_equal(result.table, file.get_tensor(position).astype(np.float32))
        every = file.get_tensor(words).astype(np.float32)
    assert result.table.shape == (512, 384)
    assert result.model == minilm.card.title
    np.testing.assert_array_equal(result.words, every[::15])  # 30,522 of them, about 2,000 taken
    assert 2000 <= len(result.words) < 2100


def test_table_returns_copies(minilm):
    first = positions.table("minilm")
    first.table[:] = 0
    first.words[:] = 0
    again = positions.table("minilm")
    assert again.table.any()
    assert again.words.any()


@pytest.mark.parametrize(
    ("call", "code"),
    [
        (lambda: positions.table("smollm2"), "no_position_table"),
        (lambda: positions.reordered("smollm2", MARY, JOHN), "encoder_only"),
    ],
)
def test_table_and_reordered_reject_decoder_with_rotary_positions(smollm2, call, code):
    with pytest.raises(UserError) as refused:
        call()
    assert refused.value.code == code


# ------------------------------------------------------------------------------ the real encoder
@pytest.fixture(scope="module")
def found(minilm):
    return positions.reordered("minilm", MARY, LONGER, layer=3, head=7, seed=4)


def test_reordered_returns_tokens_and_variant_accessors(found, minilm):
    assert found.model == minilm.card.title
    assert found.variants == VARIANTS == ("own", "zero", "shuffled", "sinusoidal")
    assert found.pieces == ("[CLS]", *MARY.lower().split(), "[SEP]")
    assert found.others == texts.tokens(minilm, LONGER).pieces
    assert (found.layer, found.head) == (3, 7)
    np.testing.assert_allclose(found.weights.sum(-1), np.ones((4, 7)), atol=FLOAT)
    for index, variant in enumerate(VARIANTS):
        assert found.alike_of(variant) == found.alike[index]
        assert found.kept_of(variant) == found.original_cosine[index]
        assert found.previous_of(variant) == found.previous[index]


@pytest.mark.parametrize("variant", VARIANTS)
def test_reordered_matches_copy_with_overwritten_table(found, minilm, variant):
    tokens = [texts.tokens(minilm, text) for text in (MARY, LONGER)]
    own = positions.table("minilm").table
    copy = eager(minilm, rerun=(TABLE,))
    _, hidden, _ = passed(copy, tokens[0])
    untouched = vector(hidden)
    put(copy, variant, own, len(tokens[1].ids), seed=4)
    (weights, first, _), (_, second, _) = (passed(copy, each) for each in tokens)
    at = VARIANTS.index(variant)
    np.testing.assert_allclose(found.weights[at], weights[3, 7], atol=FLOAT)
    assert found.alike[at] == pytest.approx(vector(first) @ vector(second), abs=FLOAT)
    assert found.original_cosine[at] == pytest.approx(vector(first) @ untouched, abs=FLOAT)
    previous = patterns.habits(weights, tokens[0].ids, tokens[0].special).previous.max()
    assert found.previous[at] == pytest.approx(previous, abs=FLOAT)


def test_reordered_zero_table_ignores_word_order(minilm):
    result = positions.reordered("minilm", MARY, JOHN)
    assert result.alike_of("zero") == pytest.approx(1, abs=1e-6)  # float32 sums in another order
    for variant in ("own", "shuffled", "sinusoidal"):
        assert result.alike_of(variant) < 0.9995, variant
    for variant in VARIANTS[1:]:
        assert result.kept_of(variant) < 0.9, variant
    assert result.previous_of("own") > 0.99  # layer 0, head 2
    assert result.previous_of("zero") < 0.5
    # Words of another number are not the same bag.
    assert positions.reordered("minilm", MARY, f"{JOHN} flower").alike_of("zero") < 1 - 1e-4


def test_reordered_seed_changes_only_shuffled_variant(minilm):
    item, other = (positions.reordered("minilm", MARY, JOHN, seed=seed) for seed in (1, 2))
    changed = [not np.array_equal(a, b) for a, b in zip(item.weights, other.weights, strict=True)]
    assert changed == [False, False, True, False]


def test_reordered_and_table_leave_shared_model_unchanged(minilm):
    before = {name: p.clone() for name, p in minilm.network.state_dict().items()}
    tokens = texts.tokens(minilm, MARY)
    reading = forward_cache.forward(minilm, tokens)
    positions.reordered("minilm", MARY, JOHN)
    positions.table("minilm")
    after = minilm.network.state_dict()
    assert before.keys() == after.keys()
    assert all(torch.equal(before[name], after[name]) for name in before)
    again = forward_cache.forward(minilm, tokens)
    np.testing.assert_array_equal(reading.weights, again.weights)
    np.testing.assert_array_equal(reading.vectors, again.vectors)


@pytest.mark.parametrize(
    ("first", "second", "tokens"),
    [("", "", 2), ("", MARY, 2), ("我们 <b> $x$", "\ud800 \x00", 10),
     ("cat " * 700, "dog", 512)],
)  # fmt: skip
def test_reordered_accepts_odd_and_full_length_texts(minilm, first, second, tokens):
    result = positions.reordered("minilm", first, second)
    assert result.weights.shape == (4, tokens, tokens)
    assert result.left_out == (tokens == 512)
    for values in (result.alike, result.original_cosine, result.previous, result.weights):
        assert np.isfinite(values).all()


def test_reordered_clamps_layer_and_head(minilm):
    beyond = positions.reordered("minilm", MARY, JOHN, layer=47, head=24)
    last = positions.reordered("minilm", MARY, JOHN, layer=5, head=11)
    assert (beyond.layer, beyond.head) == (5, 11)
    np.testing.assert_array_equal(beyond.weights, last.weights)


# ----------------------------------------------------------------------------------- tiny models
@pytest.fixture
def tiny(monkeypatch, tmp_path):
    """`tiny(name, network)` puts a random network in the place of one of the registry's."""
    from transformers import BertTokenizer

    taps.register()
    vocabulary = {word: number for number, word in enumerate(WORDS)}

    def placed(name, network):
        network.set_attn_implementation(taps.NAME)
        card = next(record for record in registry.MODELS if record.name == name)
        card = replace(card, layers=2, heads=2, parameters=0)
        created = Pretrained(
            card, network.eval(), BertTokenizer(vocab=vocabulary), "cpu", "float32", "hub"
        )
        monkeypatch.setitem(pretrained._loaded, name, created)
        return created

    with torch.random.fork_rng():
        torch.manual_seed(0)
        yield placed


def test_table_reads_gpt2_wpe(tiny):
    from transformers import GPT2Config, GPT2LMHeadModel

    config = GPT2Config(vocab_size=100, n_positions=64, n_embd=16, n_layer=2, n_head=2)
    model = tiny("gpt2", GPT2LMHeadModel(config))
    result = positions.table("gpt2")
    np.testing.assert_array_equal(
        result.table, model.network.transformer.wpe.weight.detach().numpy()
    )
    assert result.table.shape == (64, 16)
    assert result.words.shape == (100, 16)  # all, as there are few


def distilbert():
    from transformers import DistilBertConfig, DistilBertModel

    config = DistilBertConfig(
        vocab_size=len(WORDS), max_position_embeddings=64, n_layers=2, n_heads=2, dim=16,
        hidden_dim=32,
    )  # fmt: skip
    return "distilbert", DistilBertModel(config), 0


def roberta():
    """Its relatives count positions from behind the padding's row: the first token has row 2."""
    from transformers import RobertaConfig, RobertaModel

    config = RobertaConfig(
        vocab_size=len(WORDS), hidden_size=16, num_hidden_layers=2, num_attention_heads=2,
        intermediate_size=32, max_position_embeddings=66, pad_token_id=1, type_vocab_size=2,
    )  # fmt: skip
    return "bert", RobertaModel(config), 2


@pytest.mark.parametrize("make", [distilbert, roberta])
def test_table_and_reordered_support_distilbert_and_roberta(tiny, make):
    name, network, start = make()
    model = tiny(name, network)
    own = network.embeddings.position_embeddings.weight.detach().numpy()[start:].copy()
    np.testing.assert_array_equal(positions.table(name).table, own)
    first, second = "the cat sat on the mat", "the mat sat on the cat"
    result = positions.reordered(name, first, second, layer=1, head=1, seed=3)
    tokens = [texts.tokens(model, text) for text in (first, second)]
    for at, variant in enumerate(VARIANTS):
        copy = eager(model, rerun=(TABLE,))
        put(copy, variant, own, len(tokens[0].ids), 3, start)
        (weights, item, _), (_, other, _) = (passed(copy, each) for each in tokens)
        np.testing.assert_allclose(result.weights[at], weights[1, 1], atol=FLOAT)
        assert result.alike[at] == pytest.approx(vector(item) @ vector(other), abs=FLOAT)
    assert result.alike[1] == pytest.approx(1, abs=1e-6)
    assert result.alike[0] < 1 - 1e-5
