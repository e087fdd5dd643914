"""Functions of public packages, differentiated as they are installed."""
