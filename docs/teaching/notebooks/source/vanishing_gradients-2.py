# %% [markdown] en
# # An open gate
#
# On an LSTM's cell state a gradient is multiplied by the forget gate, step by step. With the bias b
# that gate starts near $\sigma(b)$. You predict how far the error reaches, and measure it.
# %% [markdown] zh
# # 打开的门
#
# 在 LSTM 的细胞状态上，梯度每往回一步就乘以遗忘门。偏置为 b 时，遗忘门一开始约为 $\sigma(b)$。
# 你来预测误差能到多远，再量一量。
# %%
import numpy as np

from seqviz.compute import vanishing_gradients
from seqviz.compute.vanishing_gradients import GradientExperiment


def measured(bias):
    """The factor per step on c, of an untrained LSTM whose forget gate starts with this bias."""
    return vanishing_gradients.reach(
        GradientExperiment("lstm", 200, 32, gain=0.9, forget_bias=bias, seed=1)
    ).factor


# %% [markdown] en
# **1.** Compute the value of the gate at this bias, if its inputs contribute nothing.
# %% [markdown] zh
# **1.** 输入不起作用时，这个偏置下门的取值。
# %% task
def gate(bias): ...
# %% solution
def gate(bias):
    return 1 / (1 + np.exp(-bias))


# %% [markdown] en
# **2.** After how many steps has a product of such gates fallen to one hundredth? And which bias gives
# k steps?
# %% [markdown] zh
# **2.** 这样的门连乘，多少步之后降到百分之一？要让它撑过 k 步，偏置应取多少？
# %% task
def steps(bias): ...


def bias_for(k): ...
# %% solution
def steps(bias):
    return np.log(0.01) / np.log(gate(bias))


def bias_for(k):
    f = 0.01 ** (1 / k)
    return np.log(f / (1 - f))


# %% [markdown] en
# **The check.** The gate is not the only path: an error also flows from c through h into the gates of
# the next step, and that path adds to it. By how much, and at which bias is this smallest?
# %% [markdown] zh
# **检查。** 门不是全部的路：误差还会从 c 经过 h 进入下一步的各个门，这条路也带回一部分。
# 带回多少？偏置取多少时最少？
# %%
assert abs(gate(0.0) - 0.5) < 1e-12, "at bias 0 a gate is half open"
for k in (10, 50, 100):
    assert abs(steps(bias_for(k)) - k) < 1e-6, "the two functions do not undo each other"
for bias in (0.0, 1.0, 2.0, 4.0):
    found = measured(bias)
    assert found > gate(bias), f"bias {bias}: less than the gate alone lets through"
    print(
        f"bias {bias}: gate {gate(bias):.3f}, measured {found:.3f}, by the gate {steps(bias):.0f} steps"
    )
