"""Forward passes and trainings on a Ray cluster, where `SEQVIZ_ENGINE` is `ray`.

`client` is the app's side: two hooks (of the forward cache, of the job queue) that ask a process
beside the app (`bridge`), and compute here whenever that has no answer. The bridge is the only
program on the app's machine that imports ray: a driver whose cluster is lost ends its own process,
and that must not be the app's. `cluster` is what runs over there.
"""

from __future__ import annotations

import os

# Before ray is imported, here and in what this process begins: without a token nobody is let in.
os.environ.setdefault("RAY_AUTH_MODE", "token")
