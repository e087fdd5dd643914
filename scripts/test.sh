#!/bin/sh
# Run a sample of the tests on all cores: each operation, each way to call it, each engine.
# `sh scripts/test.sh --rest` runs all other tests; plain `pytest` runs everything.
# Without a shell: make an environment, `pip install -e ".[test]"`, `pytest -n auto --sample`.
set -eu
cd "$(dirname "$0")/.."
# Many tests start a Python of their own. Each would compile gradwrap again, if none may keep it.
export PYTHONDONTWRITEBYTECODE=
if [ ! -x .venv/bin/pytest ]; then
  echo "installing what the tests need (some 10 s) ..."
  python3 -m venv .venv
  # Not compiled: most modules of these packages are never imported.
  .venv/bin/python -m pip install -q --no-compile -e ".[test]"
fi
[ $# -gt 0 ] || set -- --sample
exec .venv/bin/python -m pytest -n auto --dist worksteal "$@"
