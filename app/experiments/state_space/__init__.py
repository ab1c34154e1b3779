"""State space: one linear system under two schedules, and the selective update (0x0C.3 to 0x0C.6)."""
