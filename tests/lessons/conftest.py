"""Scenes as the tests of pages have them."""

from __future__ import annotations

from borrow import reach

reach("pages")
