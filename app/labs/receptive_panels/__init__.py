"""The panels of "Receptive fields"."""
