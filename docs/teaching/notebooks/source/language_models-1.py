# %% [markdown] en
# # Witten-Bell by hand
#
# You count the pairs of a text, turn the counts into probabilities, and smooth them.
# %% [markdown] zh
# # 手算 Witten-Bell
#
# 你来数一段文字里的相邻对，把次数变成概率，再作平滑。
# %%
import numpy as np

from seqviz.compute.language_models import ngrams

text = "the dog sees the man. the man sees the dog and the bone."
symbols = sorted(set(text))
ids = np.array([symbols.index(letter) for letter in text])
V = len(symbols)


# %% [markdown] en
# **1.** Relative frequencies: how often each letter follows each other one, divided by the row's sum. A row
# without a count stays 0.
# %% [markdown] zh
# **1.** 相对频率：每个字母后面接各个字母多少次，除以该行的和。没有计数的行保持 0。
# %% task
def relative(ids, V):
    """Counts and shares of the pairs, each of shape (V, V)."""
    ...


# %% solution
def relative(ids, V):
    """Counts and shares of the pairs, each of shape (V, V)."""
    counts = np.zeros((V, V))
    np.add.at(counts, (ids[:-1], ids[1:]), 1)
    return counts, counts / np.maximum(counts.sum(1, keepdims=True), 1)


# %% [markdown] en
# **2.** Witten-Bell: a context seen N times with T different followers gives the weight T / (N + T) to the
# model without a context. That one gives T / (N + T) to 1 / V, where N and T count the whole text.
# %% [markdown] zh
# **2.** Witten-Bell：一个上文出现 N 次、后接 T 种，就把权重 T / (N + T) 交给没有上文的模型；后者再把 T / (N + T)
# 交给 1 / V，这时 N 和 T 数的是整段文字。
# %% task
def witten_bell(counts, single, V):
    """Probabilities of shape (V, V); `single`: counts of shape (V,)."""
    ...


# %% solution
def witten_bell(counts, single, V):
    """Probabilities of shape (V, V); `single`: counts of shape (V,)."""
    kinds = (single > 0).sum()
    below = (single + kinds / V) / (single.sum() + kinds)
    T = (counts > 0).sum(1, keepdims=True)
    N = counts.sum(1, keepdims=True)
    return (counts + T * below) / np.maximum(N + T, 1) + (N == 0) * below


# %% [markdown] en
# **The check.** Which letters may follow “d” now that could not before?
# %% [markdown] zh
# **检查。** 现在“d”后面可以接哪些以前不能接的字母？
# %%
counts, shares = relative(ids, V)
smooth = witten_bell(counts, np.bincount(ids, minlength=V), V)
assert np.allclose(smooth.sum(1), 1), "a distribution does not sum to 1"
counted = ngrams.count(ids, V, 2)
for name, mine in (("none", shares), ("witten_bell", smooth)):
    model = ngrams.fit(counted, name, 2)
    for letter in range(V):
        assert np.allclose(mine[letter], model.distribution([letter])), (name, symbols[letter])
row = symbols.index("d")
print("".join(symbols[k] for k in np.flatnonzero((smooth[row] > 0) & (shares[row] == 0))))
