# %% [markdown] en
# # Attention, and a mask that leaks
#
# You implement scaled dot-product attention, mask the future in two ways, and measure how much weight
# leaks through one of them.
# %% [markdown] zh
# # 注意力，以及一个会漏的掩码
#
# 你来写缩放点积注意力，用两种办法遮住未来，再量出其中一种漏过去多少。
# %%
import numpy as np

from seqviz.compute.attention import scaled

rng = np.random.RandomState(1)
n, d_k = 8, 16
Q, K, V = (rng.standard_normal((n, d_k)) for _ in range(3))  # a row for each word
past = np.tril(np.ones((n, n), bool))  # who may look at whom


# %% [markdown] en
# **1.** Compute weights and outputs. Where `allowed` is False, "add" adds −∞ to the score before the softmax,
# "multiply" multiplies the score by 0.
# %% [markdown] zh
# **1.** 权重和输出。`allowed` 为 False 处，"add" 在 softmax 之前给分数加上 −∞，"multiply" 把分数乘以 0。
# %% task
def attention(Q, K, V, allowed, how):
    """Weights, shape (n, n), and outputs, shape (n, d_k)."""
    ...


# %% solution
def attention(Q, K, V, allowed, how):
    """Weights, shape (n, n), and outputs, shape (n, d_k)."""
    scores = Q @ K.T / np.sqrt(K.shape[1])
    scores = np.where(allowed, scores, -np.inf if how == "add" else 0.0)
    powers = np.exp(scores - scores.max(axis=1, keepdims=True))
    weights = powers / powers.sum(axis=1, keepdims=True)
    return weights, weights @ V


# %% [markdown] en
# **2.** Compute the mean share of a row's weight that goes to masked words.
# %% [markdown] zh
# **2.** 平均每行有多大比例的权重落在不许看的词上？
# %% task
def leak(weights, allowed): ...
# %% solution
def leak(weights, allowed):
    return np.where(allowed, 0.0, weights).sum(axis=1).mean()


# %% [markdown] en
# **The check.** The last line changes only the last word. Which words' outputs may change, and which
# do change?
# %% [markdown] zh
# **检查。** 最后几行只改动最后一个词。哪些词的输出可以变，哪些真的变了？
# %%
for how in ("add", "multiply"):
    weights, outputs = attention(Q, K, V, past, how)
    reference = scaled.attend(
        Q, K, V, divide_by=scaled.divisor("d_k", d_k, d_k), allowed=past, operator=how
    )
    assert np.allclose(weights, reference.weights), f"{how}: the weights differ"
    assert np.allclose(outputs, weights @ V), f"{how}: the outputs are not weights times values"
    found = leak(weights, past)
    assert (found == 0) if how == "add" else found > 0.1, f"{how}: the leak cannot be {found}"
    other = V.copy()
    other[-1] += 1
    changed = ~np.isclose(attention(Q, K, other, past, how)[1], outputs).all(axis=1)
    print(f"{how}: {found:.1%} of a row leaks; words that change: {np.flatnonzero(changed) + 1}")
