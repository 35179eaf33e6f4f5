"""MiniLM's vocabulary as the text prints it, and what a permutation of ids does to the network."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from seqviz.compute.text.windows.permuted import moved_rows, permutation
from seqviz.experiments.text.windows.ids import ROWS, listed, matching, names, permute, permute_many
from seqviz.models.pretrained import load

REVIEW = "A slow and pointless film, but the music is wonderful."


def test_listed_matches_printed_window(minilm):
    result = listed("minilm", 2013)
    printed = ("from", "her", "##s", "she", "you", "had", "an", "were", "but", "be", "this")
    assert result.names == printed
    assert result.ids.tolist() == list(range(2013, 2024))  # the slice [2013:2024]
    assert result.special == ((100, "[UNK]"), (101, "[CLS]"), (102, "[SEP]"), (103, "[MASK]"))
    assert result.size == result.matches == 30522


def test_listed_neighbors_match_full_embedding_table(minilm):
    table = load("minilm").network.get_input_embeddings().weight.double()
    unit = torch.nn.functional.normalize(table, dim=1)
    result = listed("minilm", 30515)
    assert result.ids.tolist() == [*range(30515, 30522), 0, 1, 2, 3]  # goes on at the first
    cosine = unit[result.ids] @ unit.T
    np.testing.assert_allclose(
        result.next_cosine, cosine[range(ROWS), (result.ids + 1) % 30522], atol=1e-5
    )
    cosine[range(ROWS), result.ids] = -1
    assert result.nearest.tolist() == cosine.argmax(1).tolist()
    np.testing.assert_allclose(result.closeness, cosine.max(1).values, atol=1e-5)
    assert result.neighbors == pytest.approx(float((unit[1:] * unit[:-1]).sum(1).mean()), abs=1e-5)


def test_listed_searches_by_letters_and_id(minilm):
    assert listed("minilm", 0, " ING ").names[0] == "##ing"
    assert all("ing" in name for name in listed("minilm", 9000, "ing").names)
    result = listed("minilm", 0, "2013")
    assert dict(zip(result.ids.tolist(), result.names, strict=True)) == {2013: "from", 2286: "2013"}
    assert result.ids[0] == 2013
    for nothing in ("not there", "99999999999999999999", "²x", "\ud800", "好吗"):
        assert listed("minilm", 5, nothing).matches == 0
    assert len(matching("minilm", "")[1]) == len(names("minilm")) == 30522


@pytest.mark.parametrize(
    "text", [REVIEW, "", "x", "人工智能 👩‍👩‍👧 مرحبا \ud800\x00", "word " * 900]
)
def test_permute_of_ids_and_rows_is_bitwise_equal(text, minilm):
    result = permute("minilm", text, 1.0, 7)
    assert result.both_difference == 0
    assert result.same[0].all()
    assert not result.same[1:].any()
    assert result.cosine[0] == pytest.approx(1, abs=1e-12)
    assert result.positive[0] == result.trained
    assert (result.cosine[1:] < 0.9).all()


def test_permute_matches_network_with_permuted_table(minilm):
    """A second way: the table of the embedding layer is replaced (torch.func), ids enter as ids."""
    loaded = load("minilm")
    network, before = loaded.network, loaded.network.get_input_embeddings().weight.clone()
    result = permute("minilm", REVIEW, 0.5, 1)
    order = torch.from_numpy(moved_rows(permutation(30522, 0.5, 1)))
    moved = {"embeddings.word_embeddings.weight": before[order]}
    with torch.inference_mode():
        trained = network(torch.from_numpy(result.ids)[None]).last_hidden_state
        for case, table in enumerate((moved, {}, moved)):
            ids = torch.from_numpy(result.given[case])[None]
            last = torch.func.functional_call(network, table, (ids,)).last_hidden_state
            assert float((last - trained).abs().max()) == pytest.approx(
                float(result.difference[case]), abs=1e-5
            )
            vectors = last[0].mean(0), trained[0].mean(0)
            cosine = torch.nn.functional.cosine_similarity(*vectors, dim=0)
            assert float(cosine) == pytest.approx(float(result.cosine[case]), abs=1e-5)
    assert torch.equal(network.get_input_embeddings().weight, before)  # nobody has changed it
    for case, position in ((1, 3), (2, 5)):
        token = int(result.given[case][position])
        if case == 2:
            token = int(order[token])
        assert result.reads[case][position] == names("minilm")[token]


def test_permute_changes_nothing_at_share_zero(minilm):
    result = permute("minilm", REVIEW, 0.0, 1)
    assert result.moved() == 0
    assert (result.difference == 0).all()
    assert result.same.all()


def test_permute_many_reports_progress_and_matches_at_share_zero(minilm):
    payloads: list[float] = []
    by_share = permute_many("minilm", (0.0, 1.0), 10, 5, lambda share, _: payloads.append(share))
    assert payloads == pytest.approx(np.arange(1, 6) / 5)
    assert by_share.equal.tolist() == [10, 10]
    np.testing.assert_allclose(by_share.cosine[0], 1, atol=1e-6)
    assert by_share.right[:, 0].tolist() == [by_share.trained] * 2 == [by_share.right[0, 1]] * 2
    cosine = by_share.mean(1.0, "ids")
    assert cosine.low < cosine.mean < cosine.high < 0.5
    assert by_share.accuracy(1.0, "both").share == by_share.as_trained().share
