# %% [markdown] en
# # How far ahead is a forecast worth anything?
#
# The forecast of an AR(1) h steps ahead is $\varphi^h x_n$, and its error has the variance
# $\sigma^2(1 + \varphi^2 + \dots + \varphi^{2(h-1)})$. You compute both, and the horizon at which the
# forecast is hardly better than the mean.
# %% [markdown] zh
# # 预测到多远还有价值？
#
# AR(1) 向前 h 步的预测是 $\varphi^h x_n$，误差的方差是
# $\sigma^2(1 + \varphi^2 + \dots + \varphi^{2(h-1)})$。你来计算这两者，
# 并求出预测几乎不比均值强的那个步数。
# %%
import numpy as np

from seqviz.compute.ar_fitting import forecast_recursive, simulate, stationary_variance

phi, sigma = 0.8, 1.0
path = simulate((phi,), sigma, n=500, burn_in=100, seed=1).values


# %% [markdown] en
# **1.** Compute forecast and standard error for the steps 1 to H.
# %% [markdown] zh
# **1.** 第 1 到 H 步的预测和标准误。
# %% task
def forecast(last, phi, sigma, H):
    """Means and standard errors, each of shape (H,)."""
    ...


# %% solution
def forecast(last, phi, sigma, H):
    """Means and standard errors, each of shape (H,)."""
    h = np.arange(1, H + 1)
    variance = sigma**2 * np.cumsum(phi ** (2 * (h - 1)))
    return phi**h * last, np.sqrt(variance)


# %% [markdown] en
# **2.** Find the first step at which the variance of the error is at least 95% of that of the series,
# $\sigma^2/(1 - \varphi^2)$. Solve it on paper first; then write the function.
# %% [markdown] zh
# **2.** 误差方差首次达到序列方差 $\sigma^2/(1 - \varphi^2)$ 的 95% 是在第几步？
# 先在纸上解出来，再写成函数。
# %% task
def worthless_from(phi): ...
# %% solution
def worthless_from(phi):
    # 1 - phi^(2h) >= 0.95
    return int(np.ceil(np.log(0.05) / (2 * np.log(abs(phi)))))


# %% [markdown] en
# **The check**
# %% [markdown] zh
# **检查**
# %%
mean, error = forecast(path[-1], phi, sigma, 20)
reference = forecast_recursive(path, (phi,), sigma, 20)
assert np.allclose(mean, reference.mean), "the means differ"
assert np.allclose(error, reference.standard_error), "the standard errors differ"
for coefficient in (0.5, 0.8, 0.95):
    h = worthless_from(coefficient)
    width = forecast_recursive(path, (coefficient,), 1.0, h).standard_error ** 2
    level = 0.95 * stationary_variance((coefficient,))
    assert width[-1] >= level, f"phi = {coefficient}: step {h} is too early"
    assert h == 1 or width[-2] < level, f"phi = {coefficient}: an earlier step will do"
    print(f"phi = {coefficient}: {h} steps")
