"""PyTorch: its backend, its protocol and its methods."""
