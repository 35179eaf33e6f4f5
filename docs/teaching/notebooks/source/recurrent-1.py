# %% [markdown] en
# # A cell, its loop, and the way back
#
# You implement a recurrent network in numpy: the loop over time, a second direction, and the single
# convolution to which it reduces without tanh. PyTorch, with the same weights, checks them.
# %% [markdown] zh
# # 单元、循环与反向
#
# 用 numpy 写一个循环网络：沿时间的循环、第二个方向，以及去掉 tanh 之后剩下的那个卷积。
# 权重相同的 PyTorch 网络负责检查。
# %%
import numpy as np
import torch

T, d_in, d_h = 7, 3, 4
torch.manual_seed(0)
layer = torch.nn.RNN(d_in, d_h, bidirectional=True).double()
x = np.random.RandomState(0).normal(size=(T, d_in))


def weights(end):
    """W_hh, W_hx and b of one direction: PyTorch's two biases are added."""
    named = {name: one.detach().numpy() for name, one in layer.named_parameters()}
    bias = named[f"bias_ih_l0{end}"] + named[f"bias_hh_l0{end}"]
    return named[f"weight_hh_l0{end}"], named[f"weight_ih_l0{end}"], bias


forward, backward = weights(""), weights("_reverse")


# %% [markdown] en
# **1.** The loop: $h_t=\tanh(W_{hh}h_{t-1}+W_{hx}x_t+b)$ with $h_0=0$, one row for each step.
# %% [markdown] zh
# **1.** 循环：$h_t=\tanh(W_{hh}h_{t-1}+W_{hx}x_t+b)$，$h_0=0$，每一步一行。
# %% task
def states(x, W_hh, W_hx, b):
    """Shape (T, d_h)."""
    ...


# %% solution
def states(x, W_hh, W_hx, b):
    """Shape (T, d_h)."""
    h = np.zeros(len(b))
    rows = []
    for one in x:
        h = np.tanh(W_hh @ h + W_hx @ one + b)
        rows.append(h)
    return np.array(rows)


# %% [markdown] en
# **2.** Two directions: the second cell reads from the last input to the first, so its state at step
# t has read the inputs t to T.
# %% [markdown] zh
# **2.** 两个方向并排：第二个单元从最后一个输入读到第一个，它在第 t 步的状态读过第 t 到第 T 个输入。
# %% task
def both(x, forward, backward):
    """Shape (T, 2 d_h). forward, backward: W_hh, W_hx and b of a direction."""
    ...


# %% solution
def both(x, forward, backward):
    """Shape (T, 2 d_h). forward, backward: W_hh, W_hx and b of a direction."""
    return np.hstack([states(x, *forward), states(x[::-1], *backward)[::-1]])


# %% [markdown] en
# **3.** Without tanh and without biases the output for one input number a step is a convolution.
# Its kernel is $K_k=W_{yh}W_{hh}^{k}W_{hx}$, here with vectors for $W_{hx}$ and $W_{yh}$.
# %% [markdown] zh
# **3.** 没有 tanh 也没有偏置、每步只有一个输入数时，输出就是一个卷积，卷积核为
# $K_k=W_{yh}W_{hh}^{k}W_{hx}$；这里 $W_{hx}$ 和 $W_{yh}$ 都是向量。
# %% task
def kernel(W_hh, w_in, w_out, steps):
    """Shape (steps,)."""
    ...


# %% solution
def kernel(W_hh, w_in, w_out, steps):
    """Shape (steps,)."""
    return np.array([w_out @ np.linalg.matrix_power(W_hh, k) @ w_in for k in range(steps)])


# %% [markdown] en
# **The check** compares with PyTorch, and with the loop without its tanh.
# %% [markdown] zh
# **检查。** 与 PyTorch 对照，再与去掉 tanh 的循环对照。
# %%
wanted = layer(torch.from_numpy(x))[0].detach().numpy()
assert np.allclose(states(x, *forward), wanted[:, :d_h]), "the loop gives other states"
found = both(x, forward, backward)
assert np.allclose(found, wanted), "the second direction is another one"
moved = x + np.eye(T)[-1][:, None]  # the last input alone
apart = np.abs(both(moved, forward, backward) - found)[0]
print(f"the last input moves the first state by {apart[d_h:].max():.3f}, read from the right")
first = np.abs(states(moved, *forward) - states(x, *forward))[:-1]
assert first.max() == 0, "a forward state has read what comes after it"
w_in, w_out, signal = forward[1][:, 0], np.ones(d_h), np.arange(1.0, T + 1)
h, linear = np.zeros(d_h), []
for one in signal:
    h = forward[0] @ h + w_in * one
    linear.append(w_out @ h)
convolved = np.convolve(signal, kernel(forward[0], w_in, w_out, T))[:T]
assert np.allclose(convolved, linear), "the convolution is another one"
