# %% [markdown] en
# # Count the parameters of a Transformer
#
# `nn.Transformer(512, 8, 6, 6, 2048)` has 44,140,544 parameters. You derive the formula without looking
# at the weights.
# %% [markdown] zh
# # 数一数 Transformer 的参数
#
# `nn.Transformer(512, 8, 6, 6, 2048)` 有 44,140,544 个参数。不看权重，你来找出公式。
# %%
import torch


def counted(d, heads, encoder, decoder, d_ff):
    """What PyTorch has: on the meta device there are shapes and no numbers."""
    with torch.device("meta"):
        network = torch.nn.Transformer(d, heads, encoder, decoder, d_ff)
    return sum(weights.numel() for weights in network.parameters())


print(f"{counted(512, 8, 6, 6, 2048):,}")


# %% [markdown] en
# **1.** The parts: an attention has four matrices of d × d (query, key, value, output) with a bias each;
# a feed-forward network goes from d to d_ff and back, with biases; a LayerNorm has a gain and a bias.
# %% [markdown] zh
# **1.** 各部分：一个注意力有四个 d × d 的矩阵（查询、键、值、输出），各有偏置；前馈网络从 d 到 d_ff 再
# 回来，都有偏置；LayerNorm 有增益和偏置。
# %% task
def attention(d): ...


def feed_forward(d, d_ff): ...


def norm(d): ...


# %% solution
def attention(d):
    return 4 * (d * d + d)


def feed_forward(d, d_ff):
    return d * d_ff + d_ff + d_ff * d + d


def norm(d):
    return 2 * d


# %% [markdown] en
# **2.** The whole: a layer of the encoder has one attention and two norms, one of the decoder two
# attentions (the second reads the encoder) and three norms. Each stack ends with one more norm.
# %% [markdown] zh
# **2.** 合起来：编码器的一层有一个注意力、两个归一化；解码器的一层有两个注意力（第二个读编码器）、
# 三个归一化。两叠层的末尾各再加一个归一化。
# %% task
def parameters(d, encoder, decoder, d_ff): ...


# %% solution
def parameters(d, encoder, decoder, d_ff):
    one = attention(d) + feed_forward(d, d_ff) + 2 * norm(d)
    other = 2 * attention(d) + feed_forward(d, d_ff) + 3 * norm(d)
    return encoder * one + decoder * other + 2 * norm(d)


# %% [markdown] en
# **The check.** The number of heads does not appear in the formula. Why?
# %% [markdown] zh
# **检查。** 公式里没有头数。为什么？
# %%
for d, heads, encoder, decoder, d_ff in (
    (512, 8, 6, 6, 2048),
    (64, 4, 2, 3, 100),
    (32, 1, 1, 1, 8),
):
    found = parameters(d, encoder, decoder, d_ff)
    assert found == counted(d, heads, encoder, decoder, d_ff), f"d = {d}: {found:,} is not right"
    share = (encoder + decoder) * feed_forward(d, d_ff) / found
    print(f"d = {d}, {heads} heads: {found:,}; feed-forward networks {share:.1%}")
for heads in (1, 2, 4, 8, 16):
    assert counted(512, heads, 1, 1, 64) == parameters(512, 1, 1, 64), "heads do not matter"
