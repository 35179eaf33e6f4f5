"""LAC: packed from the source of its package, against torch, against printed tags, and counted."""

from __future__ import annotations

import io
import itertools
import tarfile

import numpy as np
import pytest

from seqviz.compute.recurrent.tagging.lac import CRF, DECODERS, SIDES, WAYS, broken, share_of, words
from seqviz.core.errors import UserError
from seqviz.data import precomputed
from seqviz.experiments.recurrent.tagging import lac as tagging
from seqviz.models import lac as kept
from seqviz.models import store
from seqviz.models.registry import OTHERS, TAGGERS, model
from tests.tiers import first_only

# What was printed when the package was examined (our list of sources, 2.3).
PRINTED = (
    "人工智能/n 与/c 机器学习/nz 这/r 门/q 课/n 真有意思/a",
    "银行/n 的/u 行长/n 在/p 行走/v",
    "他/r 把/p 书/n 还给/v 了/u 图书馆/n",
)
HOSTILE = ("\x00\x01", "\ud800", "🏳️‍🌈", "<b>$x$</b>", "שלום", "…!?")


def torch_states(network, text):
    """The second implementation: eight lines a direction, reset before the product."""
    import torch

    read = torch.tensor(network.table[network.rows(text)].astype(np.float32))
    for pair in network.layers:
        both = []
        for backward, half in enumerate(pair):
            w, b, gates, candidate = (torch.tensor(part) for part in vars(half).values())
            h, created = torch.zeros(128), []
            for x in read.flip(0) if backward else read:
                u, r = torch.sigmoid((x @ w + b)[:256] + h @ gates).chunk(2)
                new = torch.tanh((x @ w + b)[256:] + (r * h) @ candidate)
                h = (1 - u) * h + u * new
                created.append(h)
            both.append(torch.stack(created[::-1] if backward else created))
        read = torch.cat(both, 1)
    return read.numpy()


@pytest.fixture(scope="module")
def network(lac):
    return lac.network


@pytest.mark.parametrize("stride", first_only([8, 1]))
def test_lac_states_match_torch(network, stride):
    """Those of the package and pieces of them; a push tries every eighth."""
    pieces = [
        sentence[k:] for sentence in network.sentences for k in (0, 3, 5) if len(sentence) > k + 2
    ]
    texts = list(dict.fromkeys(pieces))[:200]
    assert len(texts) == 200
    for text in texts[::stride]:
        rows = network.rows(text)
        (result,) = network.states(rows, np.ones((1, len(rows)), bool))[-1]
        np.testing.assert_allclose(result, torch_states(network, text), atol=1e-5)


def test_lac_states_differ_from_torch_gru(network):
    """D-02, D-03: torch's own GRU cannot be this cell."""
    import torch

    half = network.layers[0][0]
    gates, inputs = half.gates, half.inputs
    order = np.r_[128:256, 0:128]  # torch: reset, update, candidate
    cell = torch.nn.GRU(128, 128)
    with torch.no_grad():
        cell.weight_ih_l0[:] = torch.tensor(np.r_[inputs[:, order].T, inputs[:, 256:].T])
        cell.weight_hh_l0[:] = torch.tensor(np.r_[gates[:, order].T, half.candidate.T])
        cell.bias_ih_l0[:] = torch.tensor(np.r_[half.bias[order], half.bias[256:]])
        cell.bias_hh_l0[:] = 0
        read = network.table[network.rows("研究生命")].astype(np.float32)
        other = cell(torch.tensor(read))[0].numpy()
    mine = half.states(read[None], np.ones((1, 4), bool), False)[0]
    assert abs(mine - other).max() > 0.1


@pytest.mark.parametrize("printed", PRINTED)
def test_tagged_matches_printed_tags(printed, network):
    text = "".join(word.partition("/")[0] for word in printed.split())
    assert tagging.tagged(text).written == printed


def test_without_deleted_part_matches_shorter_text(network):
    text = network.sentences[0][:12]
    for side in SIDES:
        cut = tagging.without(text, side, "deleted")
        for at in (0, 5, 11):
            part = text[: at + 1] if side == "right" else text[at:]
            alone = tagging.tagged(part).emissions[-1 if side == "right" else 0]
            np.testing.assert_allclose(cut.emissions[at], alone, atol=1e-5)
    full, cut = tagging.tagged(text), tagging.without(text, "right", "zero")
    assert not cut.states[:, :, 128:].any()
    np.testing.assert_array_equal(cut.states[0, :, :128], full.states[0, :, :128])
    assert tagging.without(text, "left", "mean").states[:, :, :128].std(1).max() < 1e-6


def test_without_right_part_changes_second_layer_but_not_first():
    full, cut = (
        tagging.tagged("研究生命的起源"),
        tagging.without("研究生命的起源", "right", "deleted"),
    )
    assert full.moved(cut, 1)[0] == 0
    assert full.moved(cut, 2)[0] > 0.4


def test_crf_viterbi_and_marginals_match_brute_force():
    random = np.random.RandomState(3)
    for length in (1, 2, 4):
        crf = CRF(random.normal(size=3), random.normal(size=3), random.normal(size=(3, 3)))
        emitted = random.normal(size=(length, 3))
        every = list(itertools.product(range(3), repeat=length))
        scores = np.array([
            crf.first[row[0]] + crf.last[row[-1]] + sum(emitted[t, k] for t, k in enumerate(row))
            + sum(crf.after[a, b] for a, b in itertools.pairwise(row))
            for row in every
        ])  # fmt: skip
        assert tuple(crf.viterbi(emitted)) == every[scores.argmax()]
        weight = np.exp(scores) / np.exp(scores).sum()
        exact = np.zeros((length, 3))
        for row, share in zip(every, weight, strict=True):
            exact[np.arange(length), row] += share
        np.testing.assert_allclose(crf.marginals(emitted), exact, atol=1e-12)


def test_words_and_broken_parse_bio_tags():
    tags = ("n-B", "n-I", "v-I", "O")
    assert words("一二三四", np.array([0, 1, 0, 2]), tags) == (("一二", "n", 0), ("三四", "n", 2))
    assert words("一二三", np.array([3, 3, 1]), tags) == (("一二三", "O", 0),)
    assert broken(np.array([1, 0, 1, 2, 3, 1]), tags).tolist() == [1, 0, 0, 1, 0, 1]


def test_share_of_interval_covers_true_share():
    random, hits = np.random.RandomState(0), 0
    for _ in range(400):
        lengths = random.randint(5, 30, 86)
        changed = random.binomial(lengths, 0.3)
        share = share_of(changed, lengths)
        hits += share.low <= 0.3 <= share.high
    assert 0.9 < hits / 400 < 0.99
    full = share_of(np.array([5, 5]), np.array([5, 5]))
    assert (full.mean, *full.ci) == (1, 1, 1)


@pytest.mark.parametrize("stride", first_only([40, 9]))
def test_lac_changes_match_shipped_counts(network, stride):
    shipped = precomputed.find(tagging.lac_changes, {}).result
    assert (shipped.sentences, shipped.characters) == (len(network.sentences), 1248)
    for at in range(0, 86, stride):
        full = tagging.tagged(network.sentences[at])
        for w, method in enumerate(WAYS):
            for s, side in enumerate(SIDES):
                cut = tagging.without(network.sentences[at], side, method)
                assert full.changed(cut).sum() == shipped.cut[w, s, at]
        for d, decoder in enumerate(DECODERS):
            other = tagging.tagged(network.sentences[at], decoder)
            assert full.changed(other).sum() == shipped.decoded[d, at]
            assert other.breaks == shipped.broken[d, at]
    assert shipped.share("deleted", "right").mean == pytest.approx(0.284, abs=1e-3)
    assert shipped.unlawful("viterbi") == 0


@pytest.mark.parametrize("text", HOSTILE)
def test_tagged_accepts_any_text_and_counts_unknown_characters(text):
    result = tagging.tagged(text)
    assert "".join(word for word, _, _ in result.words) == result.text
    assert 0 <= result.unknown <= len(result.text)


def test_tagged_rejects_empty_text():
    for text in ("", "   "):
        with pytest.raises(UserError) as refused:
            tagging.tagged(text)
        assert refused.value.code == "empty_text"


# --- the file


def archive(folder):
    """A source distribution with the files that are read, of small numbers."""
    random = np.random.RandomState(0)
    tags = ["n-B", "n-I", "O"]
    files = {
        "word.dic": "0\t一\n1\t二\n2\ttwo\n3\tOOV".encode(),
        "tag.dic": "\n".join(f"{k}\t{tag}" for k, tag in enumerate(tags)).encode(),
    }
    shapes = {"word_emb": (4, 128), "fc_4.w_0": (256, 3), "fc_4.b_0": (3,), "crfw": (5, 3)}
    for k in range(4):
        wide = 128 if k < 2 else 256
        shapes |= {f"fc_{k}.w_0": (wide, 384), f"fc_{k}.b_0": (384,)}
        shapes |= {f"gru_{k}.w_0": (384 * 128,), f"gru_{k}.b_0": (384,)}
    arrays = {name: random.normal(0, 0.1, shape).astype("<f4") for name, shape in shapes.items()}
    files |= {
        f"model_baseline/{name}": b"header" + array.tobytes() for name, array in arrays.items()
    }
    tested = 'cuttest("一二")\n    cuttest(\'二一\')\n    cuttest("")\n'
    with tarfile.open(folder / "a.tar.gz", "w:gz") as created:
        for name, content in [
            *((f"jieba-0.42.1/jieba/lac_small/{name}", file) for name, file in files.items()),
            ("jieba-0.42.1/test/test.py", tested.encode()),
        ]:
            entry = tarfile.TarInfo(name)
            entry.size = len(content)
            created.addfile(entry, io.BytesIO(content))
    return arrays


def test_pack_writes_one_file_of_plain_arrays(tmp_path):
    arrays = archive(tmp_path)
    kept.pack(tmp_path, "a.tar.gz")
    assert [path.name for path in tmp_path.iterdir()] == [kept.FILE]
    result = kept.read(tmp_path / kept.FILE)
    assert result.sentences == ("一二", "二一")
    assert result.tags == ("n-B", "n-I", "O")
    assert result.rows("二三").tolist() == [1, 3]
    np.testing.assert_array_equal(result.table, arrays["word_emb"].astype(np.float16))
    np.testing.assert_array_equal(result.crf.after, arrays["crfw"][2:])
    np.testing.assert_array_equal(result.layers[1][0].inputs, arrays["fc_2.w_0"])
    (tmp_path / kept.FILE).write_bytes(b"none")
    with pytest.raises(ValueError, match=r"."):
        kept.read(tmp_path / kept.FILE)


def test_lac_is_small_and_not_offered_by_benches(lac):
    from seqviz.lessons.framework.model_controls import DECODERS as OFFERED
    from seqviz.lessons.framework.model_controls import ENCODERS

    assert model("lac") in TAGGERS
    assert model("lac") in OTHERS
    assert "lac" not in (*ENCODERS, *OFFERED)
    assert store.verify("lac").size < 8_000_000
    assert lac.bytes == lac.network.bytes < 10_000_000
    weights = model("lac").parameters
    assert weights == sum(
        part.size for pair in lac.network.layers for half in pair for part in vars(half).values()
    ) + lac.network.table.size + lac.network.emission.size + 57 + sum(
        part.size for part in vars(lac.network.crf).values()
    )  # fmt: skip


def test_from_wheel_pins_checksum_before_pip_runs_package(monkeypatch, tmp_path):
    from seqviz.models import interruptible, sources

    requests = []

    def pip(command, folder, view):
        requests.append((command, (folder / "requirements.txt").read_text()))
        return "ERROR: THESE PACKAGES DO NOT MATCH THE HASHES FROM THE REQUIREMENTS FILE."

    monkeypatch.setattr(interruptible, "program", pip)
    with pytest.raises(UserError) as refused:
        sources.from_wheel(model("lac"), tmp_path, lambda share: None)
    assert refused.value.code == "wrong_checksum"
    ((command, listed),) = requests
    assert listed == f"jieba==0.42.1 --hash=sha256:{model('lac').wheel.sha256}\n"
    assert "--no-binary" in command
    assert "--only-binary" not in command
    monkeypatch.setattr(interruptible, "program", lambda *_: "ERROR: no matching distribution")
    with pytest.raises(sources.UnreachableError, match="no matching"):
        sources.from_wheel(model("lac"), tmp_path, lambda share: None)
    assert not list(tmp_path.iterdir())
