"""GPT-2's ids, BERT's and SmolLM2's, and jieba's words: those of the texts and of the libraries."""

from __future__ import annotations

import random

import numpy as np
import pytest

from seqviz.compute.text.tokenization.bpe import Bpe, byte_letters
from seqviz.core.errors import UserError
from seqviz.experiments.text.tokenization import vocabularies
from tests.tiers import first_only

CHINESE = "人工智能与机器学习这门课真有意思"
# What jieba 0.42.1 answers with the dictionary of `words_zh.xz`: written as lines of "word count n"
# and read by `jieba.Tokenizer(path)`, then `cut(text, HMM=False)`; 20,000 random texts agree, too.
JIEBA = (
    "人工智能|与|机器|学习|这|门|课|真|有意思", "狗|咬|人|远|没有|人|咬|狗|那么|令人|惊讶",
    "我|来到|北京|清华大学", "他|来到|了|网易|杭|研|大厦", "结婚|的|和|尚未|结婚|的",
    "小|明|硕士|毕业|于|中国科学院|计算|所|，|后|在|日本|京都|大学|深造", "南京市|长江大桥",
    "研究|生命|的|起源", "乒乓球|拍卖|完|了", "银行|的|行长|在|行走", "今天|天气|真|好|！",
    "他|把|书|还给|了|图书馆|。", "easy|!| |人工智能", "GPT|-|2| |有| |50257| |个|词|元",
    "这个|模型|的|准确|率|是| |93|.|5|%|，|F1|=|0|.|91", "C|+|+| |和| |python3|.|12",
    "深度|学习|\r\n|循环|神经|网络", "注意力|就是|你|所|需要|的|全部", "语言|模型|预测|下|一个|词",
    "中华人民共和国|万岁", "提高|人民|生活|水平", "欢迎|新|老师|生前|来|就|餐",
    "工信处|女|干事|每月|经过|下属|科室|都|要|亲口|交代", "长春市|长|春节|讲话",
    "买|水果|然后|来|世|博|园", "他|说|的|确实|在|理", "这|几块|地|面积|还|真|不小",
    "把手|抬起|来", "独立自主|和|平等|互利|的|原则", "发展中国家|兔|的|计划", "龘|靐|齉",
    "é| |à| |中文", "繁|體|中文|也|要|分|詞", "\u3000|全|角|空格|，|Ａ|１", "a1b2c3", "。|。|。",
)  # fmt: skip
BLOCKS = (
    range(32, 127), range(0x20, 0x250), range(0x370, 0x530), range(0x5D0, 0x600),
    range(0x4E00, 0x9FA6), range(0xAC00, 0xD7A4), range(0x1F300, 0x1F500), range(0x600, 0x61C),
    tuple(map(ord, " \t\n\r\x0b\x1c\x1f\xa0\u2003\u3000\u200d\ufe0f's'll12")),
)  # fmt: skip
MANY = first_only([150, 10_000])


def texts(count: int) -> list[str]:
    draws = random.Random(count)
    return [
        "".join(map(chr, draws.choices(draws.choice(BLOCKS), k=draws.randint(1, 30))))
        for _ in range(count)
    ]


@pytest.mark.parametrize(
    ("text", "ids"),
    [
        ("Let us encode this sentence", [5756, 514, 37773, 428, 6827]),
        ("Hello,", [15496, 11]),
        ("Hey readers, today is", None),
    ],
)
def test_gpt2_matches_printed_ids(text, ids):
    result = vocabularies.gpt2().cut(text)
    assert len(result.ids) == 5 if ids is None else result.ids.tolist() == ids
    assert result.back == text


def test_gpt2_needs_33_tokens_for_chinese_sentence():
    assert vocabularies.gpt2().cut(CHINESE).tokens == 33


def library(encoder: Bpe):
    """The same merges in `tokenizers`, as GPT-2's own files have them."""
    import tokenizers
    from tokenizers import models, pre_tokenizers

    by_byte = {byte: letter for letter, byte in byte_letters().items()}
    names = ["".join(by_byte[byte] for byte in piece) for piece in encoder.spelled]
    content = np.frombuffer(vocabularies._read("gpt2_merges"), "<u2").reshape(2, -1).T
    pairs = [(names[left], names[right]) for left, right in content.tolist()]
    assert len(set(names)) == len(names) == 50_256
    result = tokenizers.Tokenizer(models.BPE({name: k for k, name in enumerate(names)}, pairs))
    result.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    return result


@pytest.mark.parametrize("count", MANY)
def test_gpt2_matches_tokenizers_on_random_unicode(count):
    encoder = vocabularies.gpt2()
    other = library(encoder)
    anywhere = random.Random(5)
    for text in texts(count):
        full = text + chr(anywhere.randrange(0xE000, 0x20000))
        result = encoder.cut(full)
        assert result.ids.tolist() == other.encode(full).ids, ascii(full)
        assert result.back == full


@pytest.mark.parametrize("answer", JIEBA, ids=range(len(JIEBA)))
def test_dictionary_matches_jieba(answer):
    words = answer.split("|")
    assert list(vocabularies.dictionary().words("".join(words))) == words


def test_wordpiece_matches_printed_ids(minilm):
    piece = vocabularies.wordpiece()
    ids = piece.cut("AI and ML course is interesting and easy!").ids.tolist()
    assert ids == [9932, 1998, 19875, 2607, 2003, 5875, 1998, 3733, 999]
    payload = vocabularies.special("minilm")
    assert {role: item[1] for role, item in payload.items()} == {
        "unknown": 100, "padding": 0, "class": 101, "separator": 102, "hidden": 103,
    }  # fmt: skip
    window = ("from", "her", "##s", "she", "you", "had", "an", "were", "but", "be", "this")
    assert [piece.vocabulary[name] for name in window] == list(range(2013, 2024))


def test_special_tokens_are_read_once(minilm, monkeypatch):
    before = vocabularies.special("minilm")

    def no_file(model, name):
        raise AssertionError(f"{name} of {model} was read again")

    monkeypatch.setattr(vocabularies, "_file", no_file)
    assert vocabularies.special("minilm") == before


@pytest.mark.parametrize(
    ("word", "pieces", "ids"),
    [
        ("playing", ("playing",), (2652,)),
        ("interesting", ("interesting",), (5875,)),
        ("unaffable", ("una", "##ffa", "##ble"), None),
        ("cancelling", ("cancel", "##ling"), None),
        ("embeddings", ("em", "##bed", "##ding", "##s"), None),
        ("tokenization", ("token", "##ization"), None),
    ],
)
def test_wordpiece_splits_composed_words(word, pieces, ids, minilm):
    prefix_lookups = vocabularies.wordpiece().prefix_lookups(word)
    assert prefix_lookups.pieces == pieces
    assert ids in (None, prefix_lookups.ids)


@pytest.mark.parametrize("count", MANY)
def test_wordpiece_matches_library_on_random_unicode(count, minilm):
    """In blocks whose signs both know: the library's tables of Unicode are older."""
    piece = vocabularies.wordpiece()
    for text in texts(count):
        other = minilm.tokenizer(text, add_special_tokens=False).input_ids
        assert piece.cut(text).ids.tolist() == other, ascii(text)


@pytest.mark.parametrize("count", MANY)
def test_smollm2_matches_library_on_random_unicode(count, smollm2):
    """But for bytes without an id, which the library leaves out and we call unknown."""
    encoder = vocabularies.decoder_bpe()
    for text in texts(count):
        result = encoder.cut(text)
        assert result.ids[~result.unknown].tolist() == smollm2.tokenizer(text).input_ids, ascii(
            text
        )
        assert (result.back == text) == (not result.unknown.any())


def test_smollm2_marks_bytes_without_id_as_unknown(smollm2):
    result = vocabularies.decoder_bpe().cut("a\x04")
    assert result.unknown.any()
    assert result.back == "a"
    assert result.lost == ("unknown",)


# Where a special token can stand in what somebody types.
AROUND = ("{}", "Paris is the {} of France.", "a{}b", " {} ", "{}{}", "{}'s, naïve\n{}", "我{}们",
          "Ａ１{}２", "x\u0301{}\u0301y")  # fmt: skip
NEARLY = ("[mask]", "[ MASK ]", "[[MASK]]", "[MASK", "<|endoftext|", "<|im_start|><|im_end|>",
          "<reponame><repo_name>", "[CLS][SEP][PAD][UNK]")  # fmt: skip


def check_special(cut, library, tokens) -> None:
    """The ids of transformers, and each special token as one piece in its place."""
    for text in (*(item.replace("{}", token) for item in AROUND for token in tokens), *NEARLY):
        result = cut(text)
        assert result.ids.tolist() == library(text), text
        raw = text.encode()
        for position in result.special:
            assert (
                raw[result.starts[position] : result.ends[position]].decode()
                == result.names[position]
            )
            assert not result.unknown[position]
        every = sum(item in tokens.values() for item in result.ids)
        assert len(result.special) == every - result.unknown.sum()


def test_wordpiece_special_tokens_match_transformers(minilm):
    tokens = {special_token: minilm.tokenizer.convert_tokens_to_ids(special_token)
              for special_token in minilm.tokenizer.all_special_tokens}  # fmt: skip
    assert len(tokens) == 5
    check_special(
        vocabularies.wordpiece().cut,
        lambda text: minilm.tokenizer(text, add_special_tokens=False)["input_ids"],
        tokens,
    )


def test_smollm2_special_tokens_match_transformers(smollm2):
    tokens = smollm2.tokenizer.get_added_vocab()
    assert len(tokens) == 17
    cut = vocabularies.decoder_bpe().cut
    check_special(cut, lambda text: smollm2.tokenizer(text)["input_ids"], tokens)


def test_wordpiece_decoding_reports_losses_around_special_tokens(minilm):
    cut = vocabularies.wordpiece().cut
    result = cut("Paris is the [MASK] of France.")
    assert result.back == "paris is the [MASK] of france."
    assert result.lost == ("case",)
    assert cut("the [MASK] fell").lost == ()
    assert cut("the[MASK]fell").lost == ("spaces",)
    back = minilm.tokenizer.decode(result.ids, clean_up_tokenization_spaces=True)
    assert result.back == back


def test_gpt2_reads_end_of_text_as_one_token():
    cut = vocabularies.gpt2().cut
    assert cut("The end.<|endoftext|>Once").ids.tolist() == [464, 886, 13, 50256, 7454]
    assert cut("<|endoftext|>").special == (0,)
    assert cut("<|im_start|>").special == ()


def test_vocabularies_reject_damaged_file(monkeypatch, tmp_path):
    monkeypatch.setattr(vocabularies, "FOLDER", tmp_path)
    (tmp_path / "gpt2_merges.xz").write_bytes(b"not it")
    with pytest.raises(UserError) as refused:
        vocabularies._read("gpt2_merges")
    assert refused.value.code == "damaged"


def test_vocabularies_reject_unfetched_model(monkeypatch, tmp_path):
    monkeypatch.setenv("SEQVIZ_CACHE", str(tmp_path))
    assert not vocabularies.has_tokenizer("minilm")
    with pytest.raises(UserError) as refused:
        vocabularies._file("minilm", "tokenizer.json")
    assert refused.value.code == "not_fetched"
