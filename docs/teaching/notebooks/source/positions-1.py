# %% [markdown] en
# # Sines and cosines, and the rotation in them
#
# You implement the encoding of Vaswani et al. (2017), and derive the matrix that maps every position to
# the one k later.
# %% [markdown] zh
# # 正弦、余弦，以及其中的旋转
#
# 你来写 Vaswani 等（2017）的编码，并找出把每个位置带到 k 个位置之后的那个矩阵。
# %%
import numpy as np

from seqviz.compute.positions import order, sinusoidal

positions, d, base = 64, 16, 10_000.0


# %% [markdown] en
# **1.** $PE[p, 2i] = \sin(p / \text{base}^{2i/d})$, $PE[p, 2i+1] = \cos(\text{of the same})$.
# %% [markdown] zh
# **1.** $PE[p, 2i] = \sin(p / \text{base}^{2i/d})$，$PE[p, 2i+1]$ 是同一角度的余弦。
# %% task
def encoding(positions, d, base):
    """Shape (positions, d)."""
    ...


# %% solution
def encoding(positions, d, base):
    """Shape (positions, d)."""
    angle = np.arange(positions)[:, None] / base ** (np.arange(0, d, 2) / d)
    return np.stack([np.sin(angle), np.cos(angle)], axis=-1).reshape(positions, d)


# %% [markdown] en
# **2.** Derive the matrix R with $PE[p + k] = R\,PE[p]$ at every p, from the angle addition formulas: one 2 × 2
# block for each pair.
# %% [markdown] zh
# **2.** 用加法定理写出矩阵 R，使 $PE[p + k] = R\,PE[p]$ 对每个 p 成立：每一对一个 2 × 2 的块。
# %% task
def rotation(k, d, base):
    """Shape (d, d)."""
    ...


# %% solution
def rotation(k, d, base):
    """Shape (d, d)."""
    R = np.zeros((d, d))
    for i in range(0, d, 2):
        b = k / base ** (i / d)
        R[i : i + 2, i : i + 2] = [[np.cos(b), np.sin(b)], [-np.sin(b), np.cos(b)]]
    return R


# %% [markdown] en
# **The check.** Then reorder the words of a sentence, with and without the encoding. How do the outputs
# of attention change?
# %% [markdown] zh
# **检查。** 然后：把一句话的词换个顺序，有编码和没有编码时，注意力的输出会怎样？
# %%
PE = encoding(positions, d, base)
assert np.allclose(PE, sinusoidal.encoding(positions, d, base).table), "the encoding differs"
for k in (1, 5, 20):
    assert np.allclose(PE[:-k] @ rotation(k, d, base).T, PE[k:]), f"k = {k}: R does not carry on"
assert np.allclose(rotation(3, d, base).T @ rotation(3, d, base), np.eye(d)), "R is no rotation"
words = np.random.RandomState(1).standard_normal((6, d))
mixed = np.array([2, 0, 5, 1, 4, 3])
for name, added in (("without", 0), ("with", PE[:6])):
    usual = order.attend(words + added).outputs
    other = order.attend(words[mixed] + added).outputs
    print(f"{name} encoding the outputs change by up to {np.abs(other - usual[mixed]).max():.2g}")
