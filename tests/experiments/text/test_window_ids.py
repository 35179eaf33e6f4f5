"""MiniLM's vocabulary as the text prints it, and what a permutation of ids does to the network."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from seqviz.compute.text.windows.permuted import moved_rows, permutation
from seqviz.experiments.text.windows.ids import ROWS, listed, matching, names, permute, permute_many
from seqviz.models.pretrained import load

REVIEW = "A slow and pointless film, but the music is wonderful."


def test_the_window_is_what_the_text_prints(minilm):
    found = listed("minilm", 2013)
    printed = ("from", "her", "##s", "she", "you", "had", "an", "were", "but", "be", "this")
    assert found.names == printed
    assert found.ids.tolist() == list(range(2013, 2024))  # the slice [2013:2024]
    assert found.special == ((100, "[UNK]"), (101, "[CLS]"), (102, "[SEP]"), (103, "[MASK]"))
    assert found.size == found.matches == 30522


def test_neighbors_are_those_of_the_whole_table(minilm):
    table = load("minilm").network.get_input_embeddings().weight.double()
    unit = torch.nn.functional.normalize(table, dim=1)
    found = listed("minilm", 30515)
    assert found.ids.tolist() == [*range(30515, 30522), 0, 1, 2, 3]  # goes on at the first
    cosine = unit[found.ids] @ unit.T
    np.testing.assert_allclose(
        found.beside, cosine[range(ROWS), (found.ids + 1) % 30522], atol=1e-5
    )
    cosine[range(ROWS), found.ids] = -1
    assert found.nearest.tolist() == cosine.argmax(1).tolist()
    np.testing.assert_allclose(found.closeness, cosine.max(1).values, atol=1e-5)
    assert found.neighbors == pytest.approx(float((unit[1:] * unit[:-1]).sum(1).mean()), abs=1e-5)


def test_search_by_letters_and_by_id(minilm):
    assert listed("minilm", 0, " ING ").names[0] == "##ing"
    assert all("ing" in name for name in listed("minilm", 9000, "ing").names)
    found = listed("minilm", 0, "2013")
    assert dict(zip(found.ids.tolist(), found.names, strict=True)) == {2013: "from", 2286: "2013"}
    assert found.ids[0] == 2013
    for nothing in ("not there", "99999999999999999999", "²x", "\ud800", "好吗"):
        assert listed("minilm", 5, nothing).matches == 0
    assert len(matching("minilm", "")[1]) == len(names("minilm")) == 30522


@pytest.mark.parametrize(
    "text", [REVIEW, "", "x", "人工智能 👩‍👩‍👧 مرحبا \ud800\x00", "word " * 900]
)
def test_both_moved_is_equal_to_the_last_bit(text, minilm):
    found = permute("minilm", text, 1.0, 7)
    assert found.both_difference == 0
    assert found.same[0].all()
    assert not found.same[1:].any()
    assert found.cosine[0] == pytest.approx(1, abs=1e-12)
    assert found.positive[0] == found.trained
    assert (found.cosine[1:] < 0.9).all()


def test_it_is_what_a_network_with_a_moved_table_gives(minilm):
    """A second way: the table of the embedding layer is replaced (torch.func), ids enter as ids."""
    loaded = load("minilm")
    network, before = loaded.network, loaded.network.get_input_embeddings().weight.clone()
    found = permute("minilm", REVIEW, 0.5, 1)
    order = torch.from_numpy(moved_rows(permutation(30522, 0.5, 1)))
    moved = {"embeddings.word_embeddings.weight": before[order]}
    with torch.inference_mode():
        trained = network(torch.from_numpy(found.ids)[None]).last_hidden_state
        for case, table in enumerate((moved, {}, moved)):
            ids = torch.from_numpy(found.given[case])[None]
            last = torch.func.functional_call(network, table, (ids,)).last_hidden_state
            assert float((last - trained).abs().max()) == pytest.approx(
                float(found.difference[case]), abs=1e-5
            )
            vectors = last[0].mean(0), trained[0].mean(0)
            cosine = torch.nn.functional.cosine_similarity(*vectors, dim=0)
            assert float(cosine) == pytest.approx(float(found.cosine[case]), abs=1e-5)
    assert torch.equal(network.get_input_embeddings().weight, before)  # nobody has changed it
    for case, place in ((1, 3), (2, 5)):
        token = int(found.given[case][place])
        if case == 2:
            token = int(order[token])
        assert found.reads[case][place] == names("minilm")[token]


def test_no_share_no_change(minilm):
    found = permute("minilm", REVIEW, 0.0, 1)
    assert found.moved() == 0
    assert (found.difference == 0).all()
    assert found.same.all()


def test_over_many_sentences(minilm):
    told: list[float] = []
    found = permute_many("minilm", (0.0, 1.0), 10, 5, lambda share, _: told.append(share))
    assert told == pytest.approx(np.arange(1, 6) / 5)
    assert found.equal.tolist() == [10, 10]
    np.testing.assert_allclose(found.cosine[0], 1, atol=1e-6)
    assert found.right[:, 0].tolist() == [found.trained] * 2 == [found.right[0, 1]] * 2
    low, high = found.ends(1.0, "ids")
    assert low < found.mean(1.0, "ids") < high < 0.5
    assert found.accuracy(1.0, "both").share == found.as_trained().share
