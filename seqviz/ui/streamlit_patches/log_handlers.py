"""Patch: Streamlit's loggers use the root handlers of the process."""

from __future__ import annotations

import logging

from seqviz.ui.streamlit_patches.patch import Patch


def adopt(logger: logging.Logger) -> None:
    """Remove the logger's handlers and let it propagate to the root's."""
    logger.handlers = []
    logger.propagate = True


PATCH = Patch(
    "log_handlers",
    (),
    {"streamlit.logger:setup_formatter": adopt},
    "Without it Streamlit gives each of its loggers a handler, with no setting for that: its lines "
    "have another format. They still contain no student's text, which `logs` ensures itself.",
)
