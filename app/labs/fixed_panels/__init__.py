"""The panels of the page "Fixed context": result in, picture drawn. No torch, no sums."""
