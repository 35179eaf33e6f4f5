# %% [markdown] en
# # What can an output know?
#
# There are two ways to find out: change an input slightly and see which outputs change, or follow the
# arrows. You implement both. They must give the same inputs, for any weights.
# %% [markdown] zh
# # 一个输出能知道什么？
#
# 有两种办法：把一个输入挪动一点，看哪些输出跟着动；或者顺着箭头往回走。两种都由你来写。
# 无论权重是多少，它们指出的输入必须相同。
# %%
import numpy as np
import torch

from seqviz.compute.recurrent.wirings.graph import WiringGraph
from seqviz.compute.recurrent.wirings.influence import jacobian, network


# %% [markdown] en
# **1.** Every input and output has several components, and the size of a change is its norm.
# Change each component of input s by ±`step`; the influence on output t is the square
# root of the sum of the squares of all derivatives. `f` takes x with shape (S, in) and gives
# (T, out).
# %% [markdown] zh
# **1.** 每个输入和输出都有几个分量，变化的大小按范数计。把输入 s 的每个分量向两边各挪动 `step`；
# 它对输出 t 的影响是所有导数的平方和的平方根。`f` 接受形状 (S, in) 的 x，给出 (T, out)。
# %% task
def by_moving(f, x, step=1e-4):
    """Shape (T, S)."""
    ...


# %% solution
def by_moving(f, x, step=1e-4):
    """Shape (T, S)."""
    columns = []
    for s in range(len(x)):
        squares = 0
        for k in range(x.shape[1]):
            nudge = np.zeros_like(x)
            nudge[s, k] = step
            squares += (((f(x + nudge) - f(x - nudge)) / (2 * step)) ** 2).sum(1)
        columns.append(np.sqrt(squares))
    return np.array(columns).T


# %% [markdown] en
# **2.** The arrows of a network are pairs (from, to). A node can depend on all nodes from which a path
# of arrows leads to it.
# %% [markdown] zh
# **2.** 网络的箭头是若干对（起点，终点）。一个节点可能依赖的，是所有沿箭头能走到它的节点。
# %% task
def ancestors(arrows, node):
    """A set of nodes, without the node itself."""
    ...


# %% solution
def ancestors(arrows, node):
    """A set of nodes, without the node itself."""
    found, ahead = set(), [node]
    while ahead:
        here = ahead.pop()
        new = {one for one, to in arrows if to == here} - found
        found |= new
        ahead.extend(new)
    return found


# %% [markdown] en
# **The check**: four wirings with random weights. Both ways must agree with each other, and the
# numbers of the first with those of autograd, which the page uses.
# %% [markdown] zh
# **检查。** 四种连接方式，权重随机。两种办法必须一致；第一种的数还要与页面所用的自动求导相同。
# %%
wirings = {
    "left to right": WiringGraph(),
    "two layers": WiringGraph(layers=2),
    "two directions": WiringGraph(both=True),
    "one input, many outputs": WiringGraph(enter="first"),
}
for name, wiring in wirings.items():
    net = network(wiring, 0)

    def f(x, net=net):
        """The outputs for one sequence."""
        with torch.no_grad():
            return net(torch.from_numpy(x)[:, None])[:, 0].numpy()

    x = np.random.RandomState(0).normal(size=(wiring.inputs, 3))
    found = by_moving(f, x)
    exact = jacobian(net, torch.from_numpy(x)[:, None]).pow(2).sum((1, 4)).sqrt()[:, 0].numpy()
    arrows = list(wiring.edges())
    drawn = np.array(
        [
            [("x", s + 1) in ancestors(arrows, ("y", t + 1)) for s in range(wiring.inputs)]
            for t in range(wiring.outputs)
        ]
    )
    print(f"{name}: {drawn.sum()} of {drawn.size} cells can have an influence")
    assert np.array_equal(found > 0, drawn), f"{name}: moving and arrows disagree"
    assert np.allclose(found, exact, atol=1e-6), f"{name}: autograd finds other numbers"
for t in range(1, 7):
    assert ancestors(list(WiringGraph().edges()), ("y", t)) == WiringGraph().ancestors(("y", t)) - {
        ("y", t)
    }
