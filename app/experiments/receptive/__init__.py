"""What the page "Receptive fields" shows: schedules, fields, influence, pairs, schedules of work, work terms."""
