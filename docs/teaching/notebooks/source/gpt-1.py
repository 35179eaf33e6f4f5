# %% [markdown] en
# # Write the filters
#
# The scores of a next token become a distribution, filters cut it, and one random number u draws from
# it. You implement temperature, top-k, top-p and the draw.
# %% [markdown] zh
# # 自己写过滤
#
# 下一个词元的分数变成分布，过滤把它截短，一个数 u 从中采样。你来写温度、top-k、top-p 和采样。
# %%
import numpy as np

from seqviz.compute.gpt import draw, filters
from seqviz.compute.gpt.draw import uniforms

scores = np.random.RandomState(1).normal(0, 3, 50)
p = draw.probabilities(scores)
print(
    f"The likeliest of 50 tokens has {p.max():.3f}; the entropy is {draw.entropy(scores):.2f} bits."
)


# %% [markdown] en
# **1.** Temperature: divide the scores by it.
# %% [markdown] zh
# **1.** 温度：分数除以它。
# %% task
def temperature(scores, t):
    """Shape (token,)."""
    ...


# %% solution
def temperature(scores, t):
    """Shape (token,)."""
    return scores / t


# %% [markdown] en
# **2.** Top-k: set all but the k highest scores to minus infinity.
# %% [markdown] zh
# **2.** top-k：除最高的 k 个分数外，都变成负无穷。
# %% task
def top_k(scores, k):
    """Shape (token,)."""
    ...


# %% solution
def top_k(scores, k):
    """Shape (token,)."""
    return np.where(scores >= np.sort(scores)[-k], scores, -np.inf)


# %% [markdown] en
# **3.** Top-p: keep the fewest likeliest tokens whose probabilities sum to at least p.
# %% [markdown] zh
# **3.** top-p：从最可能的词元往下取，取到概率之和达到 p 为止，词元尽量少。
# %% task
def top_p(scores, mass):
    """Shape (token,)."""
    ...


# %% solution
def top_p(scores, mass):
    """Shape (token,)."""
    ranked = np.argsort(-scores, kind="stable")
    likely = np.exp(scores - scores.max())
    likely = (likely / likely.sum())[ranked]
    kept = ranked[np.cumsum(likely) - likely < mass]
    changed = np.full(len(scores), -np.inf)
    changed[kept] = scores[kept]
    return changed


# %% [markdown] en
# **4.** The draw: add the probabilities, likeliest token first, until the sum exceeds u.
# %% [markdown] zh
# **4.** 采样：从最可能的词元起，把概率加起来，直到和超过 u。
# %% task
def sample(scores, u):
    """The number of the token."""
    ...


# %% solution
def sample(scores, u):
    """The number of the token."""
    ranked = np.argsort(-scores, kind="stable")
    likely = np.exp(scores - scores.max())
    total = np.cumsum((likely / likely.sum())[ranked])
    return int(ranked[np.argmax(total > u)])


# %% [markdown] en
# **The check.** Then apply the same two filters in the other order.
# %% [markdown] zh
# **检查。** 然后：同样两种过滤，换个次序。
# %%
chain = filters.Chain(temperature=0.7, top_k=20, top_p=0.8)
mine = top_p(top_k(temperature(scores, 0.7), 20), 0.8)
assert np.allclose(mine, chain(scores, [])), "the filters differ"
for u in uniforms(3, 200):
    assert sample(mine, u) == draw.draw(mine, u), "the draw differs"
other = temperature(top_p(top_k(scores, 20), 0.8), 0.7)
print(f"temperature first: {np.isfinite(mine).sum()} tokens are left")
print(f"temperature last: {np.isfinite(other).sum()} tokens are left")
