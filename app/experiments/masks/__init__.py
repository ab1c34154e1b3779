"""Masks and families: a trained model under relations that the visitor chooses."""
