# %% [markdown] en
# # An LSTM, step by step
#
# You implement one step of an LSTM and run a trained LSTM with it: a network of 256 units that has learned
# to continue English text. Then you hold its forget gate at 1.
# %% [markdown] zh
# # 一步一步的 LSTM
#
# 你来写 LSTM 的一步，并用它运行一个训练好的网络：256 个单元，学会了续写英文。
# 然后把它的遗忘门固定为 1。
# %%
import numpy as np

from seqviz import lessons
from seqviz.compute.gates import networks
from seqviz.compute.gates.forcing import Clamp
from seqviz.experiments import gates
from seqviz.models import checkpoints

network = checkpoints.load("characters_lstm")
text = "It is not a great film, but it is never dull."
ids = network.encode(text).ids
x = np.concatenate([networks.first_read(network), networks.inputs(network, ids)])
w = network.weights
W, U, b = w.input_hidden, w.hidden_hidden, w.input_bias + w.hidden_bias
print("x", x.shape, "W", W.shape, "U", U.shape)  # the blocks of W, U, b: i, f, g, o


# %% [markdown] en
# **1.** Implement one step: the gates i, f, o, the candidate g, then c and h. `f_held` replaces the forget gate
# if it is not None.
# %% [markdown] zh
# **1.** 一步：门 i、f、o，候选值 g，然后是 c 和 h。`f_held` 不是 None 时代替遗忘门。
# %% task
def step(x, h, c, f_held=None):
    """The new h and c, each of shape (256,)."""
    ...


# %% solution
def step(x, h, c, f_held=None):
    """The new h and c, each of shape (256,)."""
    i, f, g, o = np.split(W @ x + U @ h + b, 4)
    i, f, o = (1 / (1 + np.exp(-a)) for a in (i, f, o))
    f = f if f_held is None else np.full_like(f, f_held)
    c = f * c + i * np.tanh(g)
    return o * np.tanh(c), c


# %% [markdown] en
# **2.** Run it over the text. The first input is a line break that the network reads before every
# text; its forget gate is never held.
# %% [markdown] zh
# **2.** 对整段文字运行。第一个输入是换行符，网络读任何文字之前都先读它；那一步的遗忘门不固定。
# %%
def run(f_held=None):
    h = c = np.zeros(256, np.float32)
    norms = []
    for place, one in enumerate(x):
        h, c = step(one, h, c, f_held if place else None)
        norms.append(np.linalg.norm(c))
    return c, np.array(norms[1:])


free, free_norms = run()
held, held_norms = run(1.0)
print(f"norm of c at the end: free {free_norms[-1]:.1f}, f held at 1 {held_norms[-1]:.1f}")
# %% [markdown] en
# **The check**, and a question: with f = 1 nothing is forgotten. Why does the norm grow instead of
# staying constant?
# %% [markdown] zh
# **检查**，并思考：f = 1 时什么也不忘。范数为什么增长，而不是停在原处？
# %%
left_alone = gates.observe("characters_lstm", text, "c")
clamped = gates.observe("characters_lstm", text, "c", clamps=(Clamp("f", 1.0),))
assert np.allclose(free, left_alone.values[-1], atol=1e-4), "the free run differs"
assert np.allclose(held, clamped.values[-1], atol=1e-4), "the run with f held differs"
lessons.gates.force(**{"f": 1.0, "watch.characters": text})
