# %% [markdown] en
# # The best of 256 units
#
# For any property of a text, one of 256 units correlates with it best. You find that unit, and then
# ask how well the best unit does without a true relation: with the property shifted along the text.
# %% [markdown] zh
# # 256 个单元里最好的那个
#
# 256 个单元中，总有一个与文字的某种性质最相关。你先找到它，再问：在没有什么可找的地方，
# 最好的单元能有多好？办法是把这个性质沿文字平移。
# %%
import numpy as np

from seqviz.compute.gates.activations import feature
from seqviz.experiments import gates
from seqviz.lessons.gates import PROSE, SECOND

found = gates.observe("characters_lstm", PROSE, "c")
scored = gates.observe("characters_lstm", SECOND, "c")
quotes = feature("quotes", found.pieces)  # 1 inside quotation marks, else 0; shape (time,)
print(found.values.shape)  # (time, unit)


# %% [markdown] en
# **1.** Compute Pearson's r of each unit with a property.
# %% [markdown] zh
# **1.** 每个单元与一种性质的皮尔逊相关系数 r。
# %% task
def correlations(values, given):
    """Shape (unit,)."""
    ...


# %% solution
def correlations(values, given):
    """Shape (unit,)."""
    a, b = values - values.mean(axis=0), given - given.mean()
    return (a * b[:, None]).sum(axis=0) / np.sqrt((a**2).sum(axis=0) * (b**2).sum())


# %% [markdown] en
# **2.** Shift the property along the text by 1, 2, ..., T − 1 symbols; what leaves the end reenters at
# the beginning. For which share of the shifts, including shift 0, is the best |r| at least as large as
# at shift 0?
# %% [markdown] zh
# **2.** 把性质沿文字平移 1, 2, ..., T − 1 个符号，首尾相接。
# 连真正的位置也算一个，最好的 |r| 不小于真正位置上的 |r|，占多大比例？
# %% task
def by_chance(values, given): ...
# %% solution
def by_chance(values, given):
    here = np.abs(correlations(values, given)).max()
    moved = [np.abs(correlations(values, np.roll(given, k))).max() for k in range(1, len(given))]
    return (1 + sum(best >= here for best in moved)) / (1 + len(moved))


# %% [markdown] en
# **The check**, and a comparison: the same for the position in the word, on both texts.
# %% [markdown] zh
# **检查**与比较：对“在词中的位置”也做一遍，两段文字都看。
# %%
for name in ("quotes", "in_word"):
    given, other = feature(name, found.pieces), feature(name, scored.pieces)
    r = correlations(found.values, given)
    unit = int(np.abs(r).argmax())
    chance = by_chance(found.values, given)
    reference = gates.search("characters_lstm", PROSE, SECOND, "c", name)
    assert unit + 1 == reference.unit, "another unit was found"
    assert abs(chance - reference.by_chance) < 1e-9, "the share by chance differs"
    second = correlations(scored.values, other)[unit]
    print(
        f"{name}: unit {unit + 1}, r = {r[unit]:.3f}, as good by chance {chance:.1%}, "
        f"on the second text r = {second:.3f}"
    )
