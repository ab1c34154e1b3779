"""`make bench`: run the benchmarks one after the other and print their tables."""

from __future__ import annotations

import argparse

from tests.benchmarks import measure, painted, picture, sessions, startup


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks", description=__doc__)
    parser.add_argument(
        "names", nargs="*", metavar="NAME", help="picture, painted, startup, sessions; default: all"
    )
    parser.add_argument("--count", type=int, default=30, help="sentences of `picture`")
    parser.add_argument("--rounds", type=int, default=3, help="new servers of `startup`")
    parser.add_argument("--sessions", type=int, default=30, help="visitors of `sessions`")
    parser.add_argument("--seconds", type=float, default=60, help="how long they edit")
    parser.add_argument("--page", default=measure.PAGE.lab, help="the lab that is measured")
    parser.add_argument("--system", default=measure.PAGE.system, help="the system that is measured")
    chosen = parser.parse_args()
    target = measure.Target(chosen.page, chosen.system)
    benchmarks = {
        "picture": lambda: picture.show(picture.run(chosen.count, target)),
        "painted": lambda: painted.show(painted.run()),
        "startup": lambda: startup.show(startup.run(chosen.rounds, target)),
        "sessions": lambda: sessions.show(sessions.run(chosen.sessions, chosen.seconds, target)),
    }
    unknown = set(chosen.names) - set(benchmarks)
    if unknown:
        parser.error(f"no benchmark is called {', '.join(sorted(unknown))}")
    facts = measure.machine()
    print(", ".join(f"{name} {value}" for name, value in facts.items()), flush=True)
    for name in chosen.names or benchmarks:
        print(f"\n{benchmarks[name]()}", flush=True)
    print(f"\nAll figures: {measure.RESULTS.relative_to(measure.RESULTS.parents[2])}/*.json")


if __name__ == "__main__":
    main()
