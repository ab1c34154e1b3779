"""Benchmarks of the page: `make bench`. Not collected by pytest; results go to tests/benchmarks/results/."""
