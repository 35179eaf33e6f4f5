"""The encoder-decoder against PyTorch's, its mask, its numbers, and what the shift is for."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from seqviz.compute.transformer import pair_training
from seqviz.compute.transformer.pair import HEADS, HIDDEN, WIDTH, PairSettings
from seqviz.compute.transformer.spelling import END, LANGUAGES, START, read, spoken
from seqviz.core.errors import UserError
from seqviz.data import precomputed


def test_spoken_and_read_convert_numbers():
    payload = {0: "zero", 10: "ten", 20: "twenty", 99: "ninety nine", 110: "one hundred ten",
            305: "three hundred five"}  # fmt: skip
    assert {number: " ".join(spoken(number)) for number in payload} == payload
    chinese = {
        0: "零",
        10: "十",
        12: "十二",
        20: "二十",
        110: "一百一十",
        305: "三百零五",
        400: "四百",
    }
    assert {number: "".join(spoken(number, "chinese")) for number in chinese} == chinese
    for language in LANGUAGES:
        assert len({spoken(number, language) for number in range(1000)}) == 1000
    assert read(" 042 ") == 42
    for text in ("", "1000", "-1", "3.5", "三"):
        with pytest.raises(UserError) as refused:
            read(text)
        assert refused.value.code == "no_number"


def test_pair_scores_match_torch():
    weights = [w.float() for w in pair_training._drawn("english", np.random.default_rng(3))]
    source, words = map(torch.from_numpy, pair_training.coded(np.array([342, 7]), "english"))
    reads = pair_training.fed(words)
    scores, own, cross = pair_training._passed(weights, source, reads)
    theirs = torch.nn.Transformer(WIDTH, HEADS, 1, 1, HIDDEN, dropout=0.0, batch_first=True).eval()
    theirs.encoder.norm = theirs.decoder.norm = None  # nn.Transformer has one more norm at each end
    first, second = theirs.encoder.layers[0], theirs.decoder.layers[0]
    pairs = (
        (first.self_attn.in_proj_weight, 2), (first.self_attn.out_proj.weight, 3),
        (first.linear1.weight, 4), (first.linear2.weight, 5),
        (second.self_attn.in_proj_weight, 6), (second.self_attn.out_proj.weight, 7),
        (second.multihead_attn.in_proj_weight, 8), (second.multihead_attn.out_proj.weight, 9),
        (second.linear1.weight, 10), (second.linear2.weight, 11),
    )  # fmt: skip
    with torch.no_grad():
        for parameter, at in pairs:
            parameter.copy_(weights[at][0].T)
        for layer in (first, second):
            layer.linear1.bias.zero_()
            layer.linear2.bias.zero_()
        pads = source == 0
        causal = theirs.generate_square_subsequent_mask(reads.shape[2])
        for at in (0, 1):
            x = pair_training._embedded(weights[0][:1], source[None])[0]
            y = pair_training._embedded(weights[1][:1], reads[at : at + 1])[0]
            out = theirs(x, y, tgt_mask=causal, src_key_padding_mask=pads,
                         memory_key_padding_mask=pads)  # fmt: skip
            np.testing.assert_allclose(scores[at], out @ weights[1][0].T, atol=2e-5)
    assert (own.triu(1) == 0).all()
    assert (cross[:, 1, :, :, 1:] == 0).all()  # 7 has one digit: nobody sees the padding


def test_fed_shifts_words_by_one():
    _, words = map(torch.from_numpy, pair_training.coded(np.array([342]), "english"))
    shifted, unshifted = pair_training.fed(words)
    np.testing.assert_array_equal(shifted[0, 1:], words[0, :-1])
    assert shifted[0, 0] == 0
    np.testing.assert_array_equal(unshifted, words)


@pytest.mark.parametrize("language", LANGUAGES)
def test_say_writes_correctly_only_if_shifted(language):
    result = precomputed.result("train_pair", settings=PairSettings(language))
    for number in (0, 12, 342, 700):
        message = pair_training.say(result, str(number))
        assert message.reads == (START, *message.writes[:-1])
        assert message.right == (message.writes == (*spoken(number, language), END))
        assert pair_training.say(result, str(number), "unshifted", "right").right
        assert not pair_training.say(result, str(number), "unshifted").right
        np.testing.assert_allclose(message.cross.sum(-1), 1, rtol=1e-5)
    counted = [pair_training.say(result, str(n)).right for n in result.test.tolist()]
    assert sum(counted) == result.written[0] == result.right("shifted").correct
    with pytest.raises(ValueError, match="words are one of"):
        pair_training.say(result, "1", words="none")
