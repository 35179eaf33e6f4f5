"""Forward passes and trainings on a Ray cluster, enabled by `SEQVIZ_ENGINE=ray`.

`client` is the app's side: two hooks (of the forward cache and the job queue) that send requests to
a separate process (`bridge`), and compute locally when it has no answer. The bridge is the only
program on the app's machine that imports ray: a driver that loses its cluster ends its own process,
which must not be the app. `cluster` runs on the cluster.
"""

from __future__ import annotations

import os

# Set before ray is imported, here and in subprocesses: connections require a token.
os.environ.setdefault("RAY_AUTH_MODE", "token")
