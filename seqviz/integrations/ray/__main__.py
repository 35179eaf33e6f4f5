"""`python -m seqviz.integrations.ray minilm smollm2`: forward passes of models, on this cluster.

    python -m seqviz.integrations.ray [--address auto] [--least 1] [--most 4] [--processors 1]
        [--gpus 0] MODEL ...

Deploys one Serve application for each model, without a port of its own, and ends; the applications
stay until the cluster ends. Trainings need none.
"""

from __future__ import annotations

import argparse

import ray
from ray import serve

from seqviz.integrations.ray.cluster import NAMESPACE, PREFIX, app
from seqviz.models.registry import model


def deploy(names: list[str], address: str = "auto", **options: object) -> None:
    """Raises ValueError for a model that is not listed, ConnectionError without a cluster."""
    for name in names:
        model(name)
    ray.init(address=address, namespace=NAMESPACE, log_to_driver=False, ignore_reinit_error=True)
    serve.start(proxy_location="Disabled")
    for name in names:
        chosen = {key: str(value) for key, value in options.items()}
        serve.run(app({"model": name, **chosen}), name=PREFIX + name, route_prefix=None)


def main() -> None:
    """The command."""
    parser = argparse.ArgumentParser(prog="python -m seqviz.integrations.ray", description=__doc__)
    parser.add_argument("models", nargs="+")
    parser.add_argument("--address", default="auto")
    parser.add_argument("--least", type=int, default=1)
    parser.add_argument("--most", type=int, default=4)
    parser.add_argument("--processors", type=float, default=1)
    parser.add_argument("--gpus", type=float, default=0)
    chosen = vars(parser.parse_args())
    deploy(chosen.pop("models"), **chosen)


if __name__ == "__main__":
    main()
