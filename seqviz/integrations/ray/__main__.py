"""`python -m seqviz.integrations.ray minilm smollm2`: deploy models on this Ray cluster.

    python -m seqviz.integrations.ray [--address auto] [--least 1] [--most 4] [--processors 1]
        [--gpus 0] MODEL ...

Deploys one Serve application per model, without an HTTP port, and exits; the applications run until
the cluster stops. Trainings need no deployment.
"""

from __future__ import annotations

import argparse

import ray
from ray import serve

from seqviz.integrations.ray.cluster import NAMESPACE, PREFIX, app
from seqviz.models.registry import model


def deploy(names: list[str], address: str = "auto", **options: object) -> None:
    """Deploy forward passes of models on a cluster.

    Args:
        names: names of the models.
        address: address of the cluster, as for `ray.init`.
        **options: arguments of `cluster.app`.

    Raises:
        ValueError: for an unlisted model.
        ConnectionError: without a cluster.
    """
    for name in names:
        model(name)
    ray.init(address=address, namespace=NAMESPACE, log_to_driver=False, ignore_reinit_error=True)
    serve.start(proxy_location="Disabled")
    for name in names:
        chosen = {key: str(value) for key, value in options.items()}
        serve.run(app({"model": name, **chosen}), name=PREFIX + name, route_prefix=None)


def main() -> None:
    """Parse the command line and deploy."""
    parser = argparse.ArgumentParser(prog="python -m seqviz.integrations.ray", description=__doc__)
    parser.add_argument("models", nargs="+", help="names of models")
    parser.add_argument("--address", default="auto", help="address of the cluster")
    parser.add_argument("--least", type=int, default=1, help="minimum number of replicas")
    parser.add_argument("--most", type=int, default=4, help="maximum number of replicas")
    parser.add_argument("--processors", type=float, default=1, help="CPUs per replica")
    parser.add_argument("--gpus", type=float, default=0, help="GPUs per replica, or a fraction")
    chosen = vars(parser.parse_args())
    deploy(chosen.pop("models"), **chosen)


if __name__ == "__main__":
    main()
