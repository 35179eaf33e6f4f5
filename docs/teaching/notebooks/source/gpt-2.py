# %% [markdown] en
# # Greedy, beams, and all texts
#
# A bigram model of newspaper editorials: the probability of a word is how often it followed the
# word before it. It is small enough to examine every text of four words. You implement greedy decoding
# and beam search, and see what each misses.
# %% [markdown] zh
# # 贪心、束搜索与全部文本
#
# 报纸社论的二元语法模型：一个词的概率，就是它跟在前一个词后面的频率。它小到可以把四个词的文本全部看一遍。
# 你来写贪心解码和束搜索，看各自错过了什么。
# %%
from collections import Counter
from itertools import pairwise

import numpy as np

from seqviz.data.reviews import editorials

words = [text.lower().split() for text in editorials().texts]
common = [word for word, _ in Counter(w for text in words for w in text).most_common(60)]
place = {word: k for k, word in enumerate(common)}
counts = np.zeros((60, 60))
for text in words:
    for one, other in pairwise(text):
        if one in place and other in place:
            counts[place[one], place[other]] += 1
p = (counts + 0.01) / (counts + 0.01).sum(1, keepdims=True)  # [word before, word]
start, steps = place["they"], 4
print(f"{counts.sum():,.0f} pairs of the 60 most frequent words")


# %% [markdown] en
# **1.** Greedy decoding: append the likeliest word, `steps` times. Return the words and their
# probability.
# %% [markdown] zh
# **1.** 贪心解码：`steps` 次取最可能的词。给出各个词和概率。
# %% task
def greedy(p, start, steps):
    """Words as a tuple, and their probability."""
    ...


# %% solution
def greedy(p, start, steps):
    """Words as a tuple, and their probability."""
    text, chance = [], 1.0
    for _ in range(steps):
        word = int(p[start].argmax())
        chance *= p[start, word]
        text.append(word)
        start = word
    return tuple(text), float(chance)


# %% [markdown] en
# **2.** Beam search: keep the `beams` most probable beginnings at every step.
# %% [markdown] zh
# **2.** 束搜索：每一步保留概率最大的 `beams` 个开头。
# %% task
def beam(p, start, steps, beams):
    """Words of the best text as a tuple, and its probability."""
    ...


# %% solution
def beam(p, start, steps, beams):
    """Words of the best text as a tuple, and its probability."""
    kept = [((), 1.0)]
    for _ in range(steps):
        longer = [
            ((*text, word), chance * p[text[-1] if text else start, word])
            for text, chance in kept
            for word in range(len(p))
        ]
        kept = sorted(longer, key=lambda one: -one[1])[:beams]
    return kept[0][0], float(kept[0][1])


# %% [markdown] en
# **The check.** A table of the best path to each word, step by step, gives the most probable text of
# all (Viterbi 1967).
# %% [markdown] zh
# **检查。** 全部文本中概率最大的，用一张表求出：一步一步求到每个词的最好的路（Viterbi 1967）。
# %%
best, paths = p[start].copy(), [(word,) for word in range(60)]
for _ in range(steps - 1):
    through = best[:, None] * p
    before = through.argmax(0)
    paths = [(*paths[k], word) for word, k in enumerate(before)]
    best = through.max(0)
top = float(best.max())
texts = {"greedy": greedy(p, start, steps)}
texts |= {f"{k} beams": beam(p, start, steps, k) for k in (1, 2, 5, 60)}
for name, (text, chance) in texts.items():
    print(f"{name}: {' '.join(common[k] for k in text)}, {chance / top:.0%} of the best")
    assert chance <= top * (1 + 1e-9), "no text can be more probable than the best"
assert texts["greedy"] == texts["1 beams"], "one beam is greedy decoding"
found, chance = texts["60 beams"]
exact = np.prod([p[a, b] for a, b in zip((start, *found), found, strict=False)])
assert np.isclose(chance, exact), "the probability is not that of the text"
assert np.isclose(chance, top), "60 beams miss the best text"
