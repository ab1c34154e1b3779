"""The panels of "State space"."""
