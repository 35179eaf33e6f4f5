"""Sessions that have left give back what they held."""

from __future__ import annotations

from seqviz.ui.streamlit_patches.session_release import Remembered


class Session:
    """What is used of Streamlit's."""

    def __init__(self, fails: bool = False) -> None:
        self.fails = fails
        self.stopped = False
        self._fragment_storage = {"bench": object()}
        self._session_state = {"slider": 1}

    def shutdown(self) -> None:
        if self.fails:
            raise RuntimeError("its run does not stop")
        self.stopped = True

    @property
    def empty(self) -> bool:
        return self.stopped and not self._fragment_storage and not self._session_state


def test_let_go_logs_failure_and_releases_other_sessions(caplog):
    remembered = Remembered(maxsize=10, ttl=60)
    broken, good = Session(fails=True), Session()
    remembered.gone.extend([broken, good])
    assert remembered.let_go()
    assert remembered.let_go()
    assert good.empty
    assert "could not be released" in caplog.text
    assert not remembered.let_go()
