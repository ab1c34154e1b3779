"""The parts of "Masks and families": settings and controls (light), then one module a panel."""
