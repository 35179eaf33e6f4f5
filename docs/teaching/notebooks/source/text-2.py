# %% [markdown] en
# # Windows that follow one another
#
# A text is cut into training windows, once at random and once in sequence. You implement both, and
# measure the loss of a bundled network that carries its state across them.
# %% [markdown] zh
# # 首尾相接的窗口
#
# 把一段文本切成训练用的窗口，一次随机采样，一次顺序分区。两种都由你来写，再测量一个内置网络
# 带着状态读过这些窗口要付出多少比特。
# %%
import numpy as np

from seqviz.compute.text.windows.carried import bits_of_windows
from seqviz.compute.text.windows.cutting import random_windows, sequential_windows
from seqviz.data.reviews import characters_split
from seqviz.models.checkpoints import load

network = load("characters_gru")
place = {symbol: k for k, symbol in enumerate(network.symbols)}
text = "\n".join(characters_split()[1])[:4000]
ids = np.array([place.get(one, 0) for one in text])
random = np.random.RandomState(0)
print(text[:100])


# %% [markdown] en
# **1.** Random sampling: return the start of each window, as [batch, row]. The windows are adjacent
# from `offset` on and are read in random order (`random.permutation`); an incomplete batch is dropped.
# Y is X shifted by one position, so a character must follow every window.
# %% [markdown] zh
# **1.** 随机采样：各窗口的起点，形状 [批, 行]。窗口从 `offset` 起一个挨一个，按随机次序来读
# （`random.permutation`）；不满的一批不要。Y 是往后移一位的 X，所以每个窗口后面至少还要有一个字符。
# %% task
def at_random(length, batch, steps, offset, random):
    """Places from 0, shape (batches, batch)."""
    ...


# %% solution
def at_random(length, batch, steps, offset, random):
    """Places from 0, shape (batches, batch)."""
    count = (length - offset - 1) // steps
    order = random.permutation(count)[: count // batch * batch]
    return offset + steps * order.reshape(-1, batch)


# %% [markdown] en
# **2.** Sequential partitioning: `batch` equal rows of text from `offset` on, each read from left to
# right.
# %% [markdown] zh
# **2.** 顺序分区：从 `offset` 起把文本分成 `batch` 个等长的行，每行从左往右读。
# %% task
def in_sequence(length, batch, steps, offset):
    """Places from 0, shape (batches, batch)."""
    ...


# %% solution
def in_sequence(length, batch, steps, offset):
    """Places from 0, shape (batches, batch)."""
    row = (length - offset - 1) // batch
    return offset + row * np.arange(batch) + steps * np.arange(row // steps)[:, None]


# %% [markdown] en
# **The check** compares your results with the library. Then the network reads the windows: with the
# state carried across both, and with a state of zero at each window.
# %% [markdown] zh
# **检查。** 与程序库对照。然后让网络来读：两种窗口都延续状态，再让每个窗口从零状态开始。
# %%
for seed in range(5):
    wanted = random_windows(len(ids), 8, 10, seed)
    draws = np.random.RandomState(seed)
    draws.randint(0, 10)  # the offset comes first
    found = at_random(len(ids), 8, 10, wanted.offset, draws)
    assert np.array_equal(found, wanted.starts), "other random windows"
    wanted = sequential_windows(len(ids), 8, 10, seed)
    found = in_sequence(len(ids), 8, 10, wanted.offset)
    assert np.array_equal(found, wanted.starts), "other windows in sequence"
rows = in_sequence(len(ids), 8, 10, 0)
shuffled = at_random(len(ids), 8, 10, 0, random)
bits = {
    "in sequence, carried": bits_of_windows(network, ids, rows, 10, True).mean(),
    "at random, carried": bits_of_windows(network, ids, shuffled, 10, True).mean(),
    "in sequence, reset": bits_of_windows(network, ids, rows, 10, False).mean(),
}
for name, value in bits.items():
    print(f"{name}: {value:.2f} bits per character")
assert min(bits, key=bits.get) == "in sequence, carried"
