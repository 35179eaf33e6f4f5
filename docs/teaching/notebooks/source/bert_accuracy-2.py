# %% [markdown] en
# # 80, 10, 10
#
# BERT's pre-training selects 15% of the tokens; of these 80% become [MASK], 10% another token, 10%
# stay unchanged. You implement it, and count what the network sees.
# %% [markdown] zh
# # 80、10、10
#
# BERT 预训练时选中 15% 的词元：其中 80% 换成 [MASK]，10% 换成别的词元，10% 不动。
# 你来写这个过程，并数一数网络看到了什么。
# %%
import numpy as np

from seqviz.compute.bert_accuracy import corruption
from seqviz.compute.bert_accuracy.results import FillSettings

MASK, VOCABULARY, FIRST = 103, 30_522, 999
rng = np.random.RandomState(1)
ids = rng.randint(FIRST, VOCABULARY, size=4000)  # a long text, without special tokens


# %% [markdown] en
# **1.** Return the corrupted ids, and the selected positions. Random tokens are drawn from
# `FIRST` to `VOCABULARY` − 1.
# %% [markdown] zh
# **1.** 给出改动后的编号和被选中的位置。随机词元从 `FIRST` 到 `VOCABULARY` − 1 中抽取。
# %% task
def corrupt(ids, rng, share=0.15, mask=0.8, random=0.1):
    """The new ids, shape (n,), and the places, shape (selected,)."""
    ...


# %% solution
def corrupt(ids, rng, share=0.15, mask=0.8, random=0.1):
    """The new ids, shape (n,), and the places, shape (selected,)."""
    places = rng.permutation(len(ids))[: round(share * len(ids))]
    draw, new = rng.rand(len(places)), ids.copy()
    new[places[draw < mask]] = MASK
    other = places[(draw >= mask) & (draw < mask + random)]
    new[other] = rng.randint(FIRST, VOCABULARY, size=len(other))
    return new, places


# %% [markdown] en
# **2.** At how many of n tokens does the network see a wrong token that is not marked as [MASK]? Return
# the expected number.
# %% [markdown] zh
# **2.** n 个词元中，网络看到多少个错了却没有标明的词元？给出期望值。
# %% task
def wrong_unmarked(n, share=0.15, random=0.1): ...
# %% solution
def wrong_unmarked(n, share=0.15, random=0.1):
    return n * share * random


# %% [markdown] en
# **The check.** Why are 10% left unchanged, although the network could simply copy them?
# %% [markdown] zh
# **检查。** 那不动的 10%，网络照抄就行，为什么还要留着？
# %%
def counts(new, places):
    masked = int((new == MASK).sum())
    wrong = int(((new != ids) & (new != MASK)).sum())
    return len(places), masked, wrong, len(places) - masked - wrong


settings = FillSettings(share=0.15, mask=0.8, random=0.1)
reference = corruption.select(ids, np.zeros(len(ids), bool), settings, VOCABULARY, 1)
theirs = counts(reference.ids, reference.positions)
ours = counts(*corrupt(ids, rng))
print("selected, [MASK], wrong, left alone:", ours, "and of the library:", theirs)
assert ours[0] == theirs[0] == 600, "15% of 4000 tokens are 600"
assert all(abs(a - b) < 75 for a, b in zip(ours, theirs, strict=True)), "the shares differ"
assert abs(ours[2] - wrong_unmarked(4000)) < 30, "the expected number does not fit the count"
