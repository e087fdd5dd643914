"""Bridges to libraries with gradients of their own, whose graphs meet that of gradwrap here."""
