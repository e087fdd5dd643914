#!/bin/sh
# Train a network in plain NumPy on images of handwritten digits. It compares the gradient with
# numerical differentiation, prints the accuracy, and draws the losses and some images in digits.png.
# Without a shell: make an environment, `pip install ".[examples]"`, `python examples/digits.py`.
set -eu
cd "$(dirname "$0")/.."
echo "installing NumPy, SciPy, scikit-learn and Matplotlib (some 10 s) ..."
python3 -m venv .venv
# Not compiled: most modules of these packages are never imported.
.venv/bin/python -m pip install -q --no-compile ".[examples]"
exec .venv/bin/python examples/digits.py
