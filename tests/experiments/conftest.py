"""The models that the tests of `seqviz.models` have."""

from __future__ import annotations

from tests.models import conftest as models

head, few_layers, shallow = models.head, models.few_layers, models.shallow
