#!/usr/bin/env bash
# The steps of the Dockerfile as far as they go without a container engine: see tools/space.py.
#   tools/space.sh           everything, in a new virtual environment (minutes; installs torch)
#   tools/space.sh --quick   with the libraries and models of this machine (half a minute)
set -eu
cd "$(dirname "$0")/.."
exec "${PYTHON:-python3}" -m tools.space "$@"
