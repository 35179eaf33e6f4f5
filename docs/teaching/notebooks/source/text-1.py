# %% [markdown] en
# # A vocabulary by frequency
#
# You convert the bundled film reviews and editorials to ids as in d2l: clean, split into words, count,
# and give an id to every word that is frequent enough. You implement the vocabulary and a one-hot
# vector, and see which words a vocabulary does not contain.
# %% [markdown] zh
# # 按频率排列的词表
#
# 把内置的影评和社论变成编号，做法与 d2l 相同：清洗、切成单词、计数，给出现得够多的单词编号。
# 你来写词表和独热向量，再看看词表不认识什么。
# %%
import re
from collections import Counter

import numpy as np

from seqviz.data.reviews import characters_split
from seqviz.experiments.text.windows.counted import of_bundled


def clean(line):
    return re.sub("[^A-Za-z]+", " ", line).strip().lower()


train, held_out = ([clean(text).split() for text in part] for part in characters_split())
print(f"{len(train):,} sentences, and {len(held_out):,} that are held out")


# %% [markdown] en
# **1.** Build a vocabulary: a dictionary from words to ids. 0 is `<unk>`; then come the words that
# occur at least `min_freq` times, the most frequent first, ties in the order of their first occurrence.
# %% [markdown] zh
# **1.** 词表：从单词到编号的字典。0 是 `<unk>`；接着是至少出现 `min_freq` 次的单词，次数多的在前，
# 次数相同的按首次出现的先后。
# %% task
def vocabulary(sentences, min_freq):
    """A dictionary from words to ids."""
    ...


# %% solution
def vocabulary(sentences, min_freq):
    """A dictionary from words to ids."""
    counts = Counter(word for words in sentences for word in words)
    kept = [word for word, n in counts.most_common() if n >= min_freq]
    return {word: k for k, word in enumerate(["<unk>", *kept])}


# %% [markdown] en
# **2.** Compute the share of the words of other sentences that have no id in the vocabulary.
# %% [markdown] zh
# **2.** 其他句子的单词中，没有自己编号的所占的比例。
# %% task
def unknown(sentences, ids):
    """A share of 1."""
    ...


# %% solution
def unknown(sentences, ids):
    """A share of 1."""
    words = [word for words in sentences for word in words]
    return sum(word not in ids for word in words) / len(words)


# %% [markdown] en
# **3.** Return the one-hot vectors of some ids, one per row.
# %% [markdown] zh
# **3.** 若干编号的独热向量，每行一个。
# %% task
def one_hot(ids, size):
    """Shape (ids, size)."""
    ...


# %% solution
def one_hot(ids, size):
    """Shape (ids, size)."""
    return np.eye(size)[ids]


# %% [markdown] en
# **The check** compares your results with the library that draws the page.
# %% [markdown] zh
# **检查。** 与绘制页面的程序库对照。
# %%
known = of_bundled("word")
for min_freq in (1, 2, 5, 20):
    ids = vocabulary(train, min_freq)
    share = unknown(held_out, ids)
    print(f"min_freq {min_freq}: {len(ids):,} ids, {share:.1%} of the held-out words are unknown")
    assert tuple(ids) == known.vocabulary(min_freq).names, "the vocabulary is another one"
    assert np.isclose(share, known.unknown_held(min_freq)), "the share is another one"
table = np.random.RandomState(0).normal(size=(50, 4))
some = np.array([3, 0, 49, 3])
assert np.array_equal(one_hot(some, 50) @ table, table[some]), "the product is not the rows"
