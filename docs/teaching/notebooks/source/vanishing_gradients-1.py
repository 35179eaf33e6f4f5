# %% [markdown] en
# # The gradient on its way back
#
# In a linear RNN, $h_t = W h_{t-1} + U x_t$, the gradient is multiplied by $W^\top$ at every step
# back. You propagate it back yourself, and find the gain at which an error reaches 50 steps back.
# %% [markdown] zh
# # 回传路上的梯度
#
# 在线性 RNN $h_t = W h_{t-1} + U x_t$ 中，梯度每往回一步就乘以 $W^\top$。
# 你来亲手把它传回去，并求出让误差能到达 50 步之前的增益。
# %%
import numpy as np

from seqviz.compute import vanishing_gradients
from seqviz.compute.vanishing_gradients import GradientExperiment

setting = GradientExperiment("linear", steps=100, width=32, gain=0.9, seed=1)
net = vanishing_gradients.unroll(setting)
W = net.weights.hidden_hidden  # shape (hidden, hidden)
last = net.errors[-1]  # dJ/dh_T, shape (hidden,); the loss is that of the last step


# %% [markdown] en
# **1.** Compute the norm of $\partial J/\partial h_t$ for $t = 1 \dots T$, from `last` alone.
# %% [markdown] zh
# **1.** 只用 `last`，求 $t = 1 \dots T$ 的 $\partial J/\partial h_t$ 的范数。
# %% task
def norms(W, last, T):
    """Shape (T,), the norm at step 1 first."""
    ...


# %% solution
def norms(W, last, T):
    """Shape (T,), the norm at step 1 first."""
    gradient, found = last, []
    for _ in range(T):
        found.append(np.linalg.norm(gradient))
        gradient = W.T @ gradient
    return np.array(found[::-1])


# %% [markdown] en
# **2.** W is now an orthogonal matrix times a gain g, so a step multiplies the norm by exactly g. For which g
# does one hundredth of the error arrive after exactly k steps?
# %% [markdown] zh
# **2.** 现在 W 是正交矩阵乘以增益 g，每一步恰好把范数乘以 g。
# g 取多少时，走 k 步之后恰好还剩百分之一？
# %% task
def gain_for(k): ...
# %% solution
def gain_for(k):
    return 0.01 ** (1 / k)


# %% [markdown] en
# **The check.** The last lines measure the factor per step with tanh. Why is it not the gain?
# %% [markdown] zh
# **检查。** 最后几行量出 tanh 网络每步的倍数。它为什么不等于增益？
# %%
reference = 10.0 ** vanishing_gradients.reach(setting).norms.hidden
assert np.allclose(norms(W, last, setting.steps), reference), "the norms differ"
for k in (20, 50, 80):
    found = vanishing_gradients.reach(
        GradientExperiment("linear", 100, 32, "orthogonal", gain_for(k))
    ).horizon
    assert found == k, f"with this gain the error reaches {found} steps, not {k}"
    print(f"{k} steps: gain {gain_for(k):.4f}")
for cell in ("linear", "rnn"):
    factor = vanishing_gradients.reach(
        GradientExperiment(cell, 100, 32, "orthogonal", gain_for(50))
    ).factor
    print(f"{cell}: {factor:.4f} per step")
