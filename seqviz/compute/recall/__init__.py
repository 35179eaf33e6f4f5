"""Learning to remember: RNN, LSTM and GRU trained side by side on tasks with a long delay.

Importing this package costs numpy only; torch is imported by the first comparison.
"""

from seqviz.compute.recall.comparison import TEST_SEQUENCES, compare
from seqviz.compute.recall.longest_delay import DELAYS, find_longest_delay
from seqviz.compute.recall.results import (
    Comparison,
    ComparisonReport,
    LongestDelay,
    LongestDelayReport,
)
from seqviz.compute.recall.settings import (
    CELLS,
    LIMITS,
    MAX_BIAS,
    OPTIMIZERS,
    RecallSettings,
    parameter_count,
    recommended,
)
from seqviz.compute.recall.tasks import (
    DISTRACTORS,
    LEARNED,
    SYMBOLS,
    TASKS,
    TOLERANCE,
    Examples,
    Score,
    baseline,
    draw,
    score,
)

__all__ = [
    "CELLS",
    "DELAYS",
    "DISTRACTORS",
    "LEARNED",
    "LIMITS",
    "MAX_BIAS",
    "OPTIMIZERS",
    "SYMBOLS",
    "TASKS",
    "TEST_SEQUENCES",
    "TOLERANCE",
    "Comparison",
    "ComparisonReport",
    "Examples",
    "LongestDelay",
    "LongestDelayReport",
    "RecallSettings",
    "Score",
    "baseline",
    "compare",
    "draw",
    "find_longest_delay",
    "parameter_count",
    "recommended",
    "score",
]  # fmt: skip
