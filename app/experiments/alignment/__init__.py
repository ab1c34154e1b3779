"""The Alignment lab: which system reads, what it read, and what happens when the read is changed. Light to import."""
