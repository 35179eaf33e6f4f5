# %% [markdown] en
# # Least squares on short series
#
# An AR(1) series remembers: $x_t = \varphi x_{t-1} + \varepsilon_t$. You estimate φ from 500 short
# series with known φ, and measure the average error of the estimate.
#
# The last cell checks your work. You only need the `seqviz` package.
# %% [markdown] zh
# # 短序列上的最小二乘
#
# AR(1) 序列记得过去：$x_t = \varphi x_{t-1} + \varepsilon_t$。你将从 500 个 φ 已知的短序列估计 φ，
# 看看估计值平均偏了多少。
#
# 最后一格检查你的答案。除了 `seqviz`，不需要别的。
# %%
import numpy as np

from seqviz.compute.ar_fitting import replicate, replicate_paths

phi, n = 0.9, 50
paths = replicate_paths(phi, n, replications=500, seed=1)  # shape (series, time)


# %% [markdown] en
# **1.** Compute the least-squares slope with an intercept: regress $x_t$ on $x_{t-1}$, both with their
# means subtracted.
# %% [markdown] zh
# **1.** 写出带截距的最小二乘斜率：$x_t$ 对 $x_{t-1}$ 回归，两者各减去自己的均值。
# %% task
def slope(series):  # shape (time,)
    ...
# %% solution
def slope(series):  # shape (time,)
    before, after = series[:-1], series[1:]
    before, after = before - before.mean(), after - after.mean()
    return before @ after / (before @ before)


# %% [markdown] en
# **2.** The mean of the 500 slopes, minus φ, is the bias. To order 1/n it is $-(1 + 3\varphi)/n$.
# Use that formula, with your estimate instead of φ, to correct each slope.
# %% [markdown] zh
# **2.** 500 个斜率的均值减去 φ 就是偏差。精确到 1/n 阶，它是 $-(1 + 3\varphi)/n$。
# 用这个公式修正每个斜率，公式里的 φ 用你的估计值代替。
# %% task
def corrected(estimate, n): ...
# %% solution
def corrected(estimate, n):
    return estimate + (1 + 3 * estimate) / n


# %%
estimates = np.array([slope(series) for series in paths], float)
mended = np.array([corrected(one, n) for one in estimates], float)
print(f"mean estimate {estimates.mean():.3f}, corrected {mended.mean():.3f}, truth {phi}")
# %% [markdown] en
# **The check.** Your slopes must equal those of the library, and the correction must remove most of
# the bias. Does it also make a single estimate better? Compare the two root mean squared errors.
# %% [markdown] zh
# **检查。** 你的斜率应与库里的相同，修正应去掉大部分偏差。
# 单个估计值也因此更好吗？比较两个均方根误差。
# %%
reference = replicate(phi, n, replications=500, seed=1, intercept=True)
assert np.allclose(estimates, reference.estimates), "the slopes are not those of least squares"
bias, rest = estimates.mean() - phi, mended.mean() - phi
assert abs(rest) < abs(bias) / 2, "the correction should take most of the bias away"
for name, found in (("as estimated", estimates), ("corrected", mended)):
    print(
        f"{name}: bias {found.mean() - phi:+.3f}, RMSE {np.sqrt(np.mean((found - phi) ** 2)):.3f}"
    )
