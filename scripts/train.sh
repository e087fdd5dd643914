#!/bin/sh
# Train a network in plain NumPy on images of handwritten digits. It compares the gradient with
# numerical differentiation, prints the accuracy, and draws the losses and some images in digits.png.
# Without a shell: make an environment, `pip install ".[examples]"`, `python examples/digits.py`.
set -eu
cd "$(dirname "$0")/.."
echo "installing NumPy, SciPy, scikit-learn and Matplotlib (some 20 s) ..."
python3 -m venv .venv
.venv/bin/python -m pip install -q ".[examples]"
exec .venv/bin/python examples/digits.py
