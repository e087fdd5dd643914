"""Other libraries' names for gradwrap's functions, for programs that were written for them."""

from gradwrap.compat import autograd as autograd
