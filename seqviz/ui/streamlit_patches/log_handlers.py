"""Streamlit's loggers write through the handlers of the process, as all others do."""

from __future__ import annotations

import logging

from seqviz.ui.streamlit_patches.patch import Patch


def adopt(logger: logging.Logger) -> None:
    """Its lines go to the root's handlers, in their form and only once."""
    logger.handlers = []
    logger.propagate = True


PATCH = Patch(
    "log_handlers",
    (),
    {"streamlit.logger:setup_formatter": adopt},
    "Streamlit gives every logger that it makes a handler, and has no setting for that: its lines "
    "would have another form than ours. None has a student's words, which `logs` sees to itself.",
)
