"""Tests of the policy need a browser."""

from __future__ import annotations

from tests.shared_fixtures import NO_PLAYWRIGHT

if NO_PLAYWRIGHT:
    collect_ignore = ["test_policy.py"]
