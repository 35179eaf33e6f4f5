"""Learning to remember: RNN, LSTM and GRU trained side by side on tasks with a long delay.

Importing this package costs numpy only; torch is imported by the first race.
"""

from seqviz.compute.memory.ladder import LADDER, Ladder, LadderReport, climb
from seqviz.compute.memory.race import TEST_SEQUENCES, Race, RaceReport, run_race
from seqviz.compute.memory.settings import (
    CELLS,
    LIMITS,
    MAX_BIAS,
    OPTIMIZERS,
    RaceSettings,
    parameter_count,
    recommended,
)
from seqviz.compute.memory.tasks import (
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
    "CELLS", "DISTRACTORS", "LADDER", "LEARNED", "LIMITS", "MAX_BIAS", "OPTIMIZERS", "SYMBOLS",
    "TASKS", "TEST_SEQUENCES", "TOLERANCE", "Examples", "Ladder", "LadderReport", "Race",
    "RaceReport", "RaceSettings", "Score", "baseline", "climb", "draw", "parameter_count",
    "recommended", "run_race", "score",
]  # fmt: skip
