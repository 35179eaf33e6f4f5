# %% [markdown] en
# # Three norms of one tensor
#
# S0 normalizes a tensor of two sentences with two words of three numbers. You implement LayerNorm,
# BatchNorm and RMSNorm; they differ only in which numbers share a mean.
# %% [markdown] zh
# # 同一个张量的三种归一化
#
# S0 对一个张量做归一化：两个句子，各两个词，每个词三个数。你来写 LayerNorm、BatchNorm 和 RMSNorm，
# 三者的差别只在于哪些数共用一个均值。
# %%
import numpy as np

from seqviz.compute.transformer import normalization

x = normalization.read("1 2 4, 2 3 4 | 3 4 4, 4 4 4")  # [sentence, word, feature]
eps = 1e-5
print(x.shape)


# %% [markdown] en
# **1.** LayerNorm: mean and variance of each word over its features. The variance divides by the count;
# eps is added to it.
# %% [markdown] zh
# **1.** LayerNorm：每个词对自己的特征取均值和方差；方差除以个数，再加上 eps。
# %% task
def layer_norm(x, eps):
    """Shape (sentence, word, feature)."""
    ...


# %% solution
def layer_norm(x, eps):
    """Shape (sentence, word, feature)."""
    mean, variance = x.mean(-1, keepdims=True), x.var(-1, keepdims=True)
    return (x - mean) / np.sqrt(variance + eps)


# %% [markdown] en
# **2.** BatchNorm: the same for each feature, over all words of all sentences.
# %% [markdown] zh
# **2.** BatchNorm：对每个特征，在所有句子的所有词上做同样的事。
# %% task
def batch_norm(x, eps):
    """Shape (sentence, word, feature)."""
    ...


# %% solution
def batch_norm(x, eps):
    """Shape (sentence, word, feature)."""
    mean, variance = x.mean((0, 1), keepdims=True), x.var((0, 1), keepdims=True)
    return (x - mean) / np.sqrt(variance + eps)


# %% [markdown] en
# **3.** RMSNorm: no mean is subtracted; a word is divided by the root of the mean of its squares.
# %% [markdown] zh
# **3.** RMSNorm：不减均值；每个词除以其平方的平均再开方。
# %% task
def rms_norm(x, eps):
    """Shape (sentence, word, feature)."""
    ...


# %% solution
def rms_norm(x, eps):
    """Shape (sentence, word, feature)."""
    return x / np.sqrt((x**2).mean(-1, keepdims=True) + eps)


# %% [markdown] en
# **The check.** Then one number of the second sentence changes. In which norms does the first
# sentence change as well?
# %% [markdown] zh
# **检查。** 然后：改动第二个句子里的一个数。哪些归一化会让第一个句子也变？
# %%
changed = x.copy()
changed[1, 1, 0] += 5
for name, norm, kind in (
    ("LayerNorm", layer_norm, "layer"),
    ("BatchNorm", batch_norm, "batch"),
    ("RMSNorm", rms_norm, "rms"),
):
    found = norm(x, eps)
    assert np.allclose(found, normalization.normalize(x, kind, eps).values), f"{name} differs"
    moved = np.abs(norm(changed, eps)[0] - found[0]).max()
    print(f"{name}: the first sentence moves by up to {moved:.3f}")
