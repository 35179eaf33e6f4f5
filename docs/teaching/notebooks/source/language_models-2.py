# %% [markdown] en
# # Bits per character
#
# You measure models of n letters on new sentences, and draw a text from one of them.
# %% [markdown] zh
# # 每个字符多少比特
#
# 你来在新句子上量 n 个字母的模型，并由其中一个抽出一段文字。
# %%
import numpy as np

from seqviz.compute.gpt.draw import uniforms
from seqviz.compute.language_models import ngrams
from seqviz.experiments.language_models.corpora import corpus, counts

sentences = corpus("en", "letters")
counted = counts("en", "letters")
END = 1  # the id of the end of a sentence
held = sentences.held[:100]


# %% [markdown] en
# **1.** Bits per character: minus log2 of the probability of every letter of a sentence and of its end, summed,
# divided by the number of letters and ends. `model.probabilities(ids, before)` gives the probabilities; an
# end stands before each sentence.
# %% [markdown] zh
# **1.** 每个字符的比特数：每个句子的每个字母连同句末，概率以 2 为底取对数、取负，求和，再除以字母与句末的个数。
# `model.probabilities(ids, before)` 给出概率；每句之前有一个句末符。
# %% task
def bits_per_character(model, held):
    """A number; held: arrays of ids."""
    ...


# %% solution
def bits_per_character(model, held):
    """A number; held: arrays of ids."""
    end = np.array([END])
    rows = [-np.log2(model.probabilities(np.append(ids, END), end)) for ids in held]
    return np.concatenate(rows).mean()


# %% [markdown] en
# **2.** Draw a letter from a distribution with one uniform number u: the first letter whose cumulative
# probability is above u.
# %% [markdown] zh
# **2.** 用一个均匀随机数 u 从分布中抽一个字母：累积概率超过 u 的第一个字母。
# %% task
def draw(p, u):
    """An id; p: shape (symbols,)."""
    ...


# %% solution
def draw(p, u):
    """An id; p: shape (symbols,)."""
    return min(int(np.searchsorted(np.cumsum(p), u, side="right")), len(p) - 1)


# %% [markdown] en
# **The check.** What does each further letter of context gain?
# %% [markdown] zh
# **检查。** 上文每多一个字母，能省下多少？
# %%
measured = {}
for n in (1, 2, 4, 6):
    model = ngrams.fit(counted, "kneser_ney", n)
    measured[n] = bits_per_character(model, held)
    end = np.array([END])
    total = sum(model.bits(np.append(ids, END), end).sum() for ids in held)
    assert np.isclose(measured[n], total / sum(len(ids) + 1 for ids in held)), f"n = {n}"
assert measured[1] > measured[2] > measured[4] > measured[6]
assert np.isclose(
    np.mean([draw(np.array([0.25, 0.75]), u) for u in uniforms(1, 4000)]), 0.75, atol=0.03
)
text = [END]
for u in uniforms(7, 60):
    text.append(draw(model.distribution(text), u))
print({n: round(float(bits), 3) for n, bits in measured.items()})
print("".join(sentences.vocabulary.names[k] for k in text[1:]))
