# %% [markdown] en
# # Is the difference real?
#
# Two classifiers label the same 2,000 sentences. You compute the interval of one accuracy, and test
# with a paired test whether the two differ.
#
# The results come with `seqviz`; no model is needed.
# %% [markdown] zh
# # 差别是真的吗？
#
# 两个分类器判断同样的 2,000 句。你来算一个准确率的置信区间，并用成对的办法检验两者是否不同。
#
# 结果随 `seqviz` 提供，不需要模型。
# %%
import numpy as np
from scipy.stats import binomtest

from seqviz.experiments.bert_accuracy import systems
from seqviz.stats import proportions

first = systems.first_run(
    "head_mean"
).right  # for each sentence: is the answer right? shape (2000,)
second = systems.first_run("all").right
print(f"{first.mean():.1%} and {second.mean():.1%}")


# %% [markdown] en
# **1.** Compute Wilson's 95% interval of k right answers out of n (z = 1.96): the centre is
# $(p + z^2/2n)/(1 + z^2/n)$, half the width $z\sqrt{p(1-p)/n + z^2/4n^2}\,/\,(1 + z^2/n)$.
# %% [markdown] zh
# **1.** n 句中答对 k 句的 95% Wilson 区间（z = 1.96）：中心是 $(p + z^2/2n)/(1 + z^2/n)$，
# 半宽是 $z\sqrt{p(1-p)/n + z^2/4n^2}\,/\,(1 + z^2/n)$。
# %% task
def wilson(k, n):
    """Lower and upper end."""
    ...


# %% solution
def wilson(k, n):
    """Lower and upper end."""
    z, p = 1.959963984540054, k / n
    centre = (p + z**2 / (2 * n)) / (1 + z**2 / n)
    half = z * np.sqrt(p * (1 - p) / n + z**2 / (4 * n**2)) / (1 + z**2 / n)
    return centre - half, centre + half


# %% [markdown] en
# **2.** McNemar's test uses only the sentences on which exactly one of the two is right. If both are
# equally good, these split like tosses of a fair coin (`binomtest(k, n).pvalue`).
# %% [markdown] zh
# **2.** McNemar 检验：只看恰有一个答对的句子。若两者一样好，这些句子落在哪一边就像抛硬币
# （`binomtest(k, n).pvalue`）。
# %% task
def mcnemar(first, second):
    """The p-value."""
    ...


# %% solution
def mcnemar(first, second):
    """The p-value."""
    only_first, only_second = int((first & ~second).sum()), int((second & ~first).sum())
    return binomtest(only_first, only_first + only_second).pvalue


# %% [markdown] en
# **The check.** How many sentences would have been enough? Try the first 100, 200, 500.
# %% [markdown] zh
# **检查。** 多少句就够了？试试前 100、200、500 句。
# %%
for right in (first, second):
    found = proportions.proportion(right)
    assert np.allclose(wilson(int(right.sum()), len(right)), (found.low, found.high), atol=1e-6)
for n in (100, 200, 500, 2000):
    p = mcnemar(first[:n], second[:n])
    assert np.isclose(p, proportions.mcnemar(first[:n], second[:n]).p), "the p-value differs"
    print(f"first {n} sentences: p = {p:.2g}")
