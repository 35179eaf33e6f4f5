#!/usr/bin/env bash
# The steps of the Dockerfile as far as they go without a container engine: see tools/space_dry_run.py.
#   tools/space_dry_run.sh           everything, in a new virtual environment (minutes; installs torch)
#   tools/space_dry_run.sh --quick   with the libraries and models of this machine (half a minute)
set -eu
cd "$(dirname "$0")/.."
exec "${PYTHON:-python3}" -m tools.space_dry_run "$@"
