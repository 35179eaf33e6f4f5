# %% [markdown] en
# # Positions in the score: rotary and ALiBi
#
# You implement two ways to add positions to the score itself, and show that only the offset matters.
# %% [markdown] zh
# # 把位置放进分数：旋转与 ALiBi
#
# 你来写两种把位置直接放进分数的办法，并说明只有偏移起作用。
# %%
import numpy as np

from seqviz.compute.positions import relative, rotary

rng = np.random.RandomState(1)
d_k, base = 16, 10_000.0
q, k = rng.standard_normal((2, d_k))


# %% [markdown] en
# **1.** Rotate each pair (2i, 2i + 1) of a vector by the angle $p\,/\,\text{base}^{2i/d_k}$.
# %% [markdown] zh
# **1.** 把向量的每一对 (2i, 2i + 1) 转过角度 $p\,/\,\text{base}^{2i/d_k}$。
# %% task
def rotate(vector, p):
    """Shape (d_k,)."""
    ...


# %% solution
def rotate(vector, p):
    """Shape (d_k,)."""
    angle = p / base ** (np.arange(0, d_k, 2) / d_k)
    a, b = vector[0::2], vector[1::2]
    turned = [a * np.cos(angle) - b * np.sin(angle), a * np.sin(angle) + b * np.cos(angle)]
    return np.stack(turned, axis=-1).ravel()


# %% [markdown] en
# **2.** ALiBi subtracts $m\,|i - j|$ from the score of query i and key j. With H heads, a power of two, the
# slopes m are $2^{-8/H}, 2^{-16/H}, \dots$ At which distance does a head divide a weight by e?
# %% [markdown] zh
# **2.** ALiBi 从查询 i、键 j 的分数中减去 $m\,|i - j|$。共 H 个头（H 是 2 的幂）时，
# 斜率 m 依次为 $2^{-8/H}, 2^{-16/H}, \dots$。距离多大时，一个头把权重除以 e？
# %% task
def slopes(H):
    """Shape (H,)."""
    ...


def distance(H):
    """For each head, shape (H,)."""
    ...


# %% solution
def slopes(H):
    """Shape (H,)."""
    return 2.0 ** (-8 * np.arange(1, H + 1) / H)


def distance(H):
    """For each head, shape (H,)."""
    return 1 / slopes(H)


# %% [markdown] en
# **The check**
# %% [markdown] zh
# **检查**
# %%
for p in (0, 3, 1000):
    reference = rotary.rotate(q[None], np.array([p]), base)[0]
    assert np.allclose(rotate(q, p), reference), f"position {p}: turned otherwise"
scores = [rotate(q, p + 7) @ rotate(k, p) for p in (0, 10, 1000)]
assert np.ptp(scores) < 1e-9, "the score depends on more than the offset"
assert np.allclose(slopes(8), relative.alibi_slopes(8)), "the slopes differ"
assert np.allclose(np.exp(-slopes(8) * distance(8)), 1 / np.e), "the distances are not those"
print("score at offset 7:", np.round(scores, 6))
print("distances of 8 heads:", distance(8))
