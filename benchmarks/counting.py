"""A server that counts its calls runs this text before all else (`benchmarks.aging`).

SIGUSR1 begins to count, in the main thread and in threads made from then on; SIGUSR2 ends it and
writes the number to the file that SEQVIZ_COUNT names. Equal work makes an equal number, however
slow the machine is. What was there before (a thread that waits) is not counted.
"""

import os
import signal
import sys
import threading
from pathlib import Path

COUNTED = ("call", "c_call")  # of Python's functions and of others


class Counter:
    """calls: since `begin`."""

    def __init__(self) -> None:
        self.calls = 0

    def note(self, _frame: object, event: str, _argument: object) -> None:
        """For `sys.setprofile`. Two threads at once may lose one in many thousands."""
        if event in COUNTED:
            self.calls += 1

    def begin(self, *_: object) -> None:
        self.calls = 0
        threading.setprofile(self.note)
        sys.setprofile(self.note)

    def end(self, *_: object) -> None:
        sys.setprofile(None)
        threading.setprofile(None)
        position = Path(os.environ["SEQVIZ_COUNT"])
        position.with_suffix(".part").write_text(str(self.calls), "ascii")
        position.with_suffix(".part").replace(position)


counter = Counter()
signal.signal(signal.SIGUSR1, counter.begin)
signal.signal(signal.SIGUSR2, counter.end)
