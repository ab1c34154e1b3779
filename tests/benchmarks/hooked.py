"""A server that reports on itself (see hook/sitecustomize.py): when torch is imported, and what is frozen."""

from __future__ import annotations

import json
import os
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.browser.harness import ROOT, Server, serve

HOOK = Path(__file__).with_name("hook")
PATIENCE = 300  # seconds for a start; a machine that trains meanwhile is slow


@dataclass
class Hooked:
    """The server and the folder it reports to."""

    server: Server
    folder: Path

    def torch_asked(self) -> float | None:
        """Time (seconds since 1970) at which torch was first imported; None where it was not yet."""
        return self._time("torch")

    def torch_done(self) -> float | None:
        """Time at which the import of torch had ended; None where it has not."""
        return self._time("torch_done")

    def torch_mapped(self) -> bool:
        """Whether the kernel has a library of torch in the server's memory (Linux)."""
        return "libtorch" in Path(f"/proc/{self.server.process.pid}/maps").read_text()

    def release(self) -> None:
        """Let the import of torch go on."""
        (self.folder / "hold").unlink(missing_ok=True)

    def _time(self, name: str) -> float | None:
        note = self.folder / name
        return float(note.read_text()) if note.exists() and note.stat().st_size else None

    def report(self, wait: float = 20) -> dict[str, Any]:
        """What the server says of itself now. RuntimeError where it stays silent for `wait` seconds."""
        path = self.folder / "report.json"
        path.unlink(missing_ok=True)
        self.server.process.send_signal(signal.SIGUSR1)
        deadline = time.monotonic() + wait
        while time.monotonic() < deadline:
            if path.exists():
                return json.loads(path.read_text())
            time.sleep(0.02)
        raise RuntimeError(f"the server did not report within {wait:.0f} s")


@contextmanager
def serve_hooked(
    folder: Path, *, hold: bool = False, environment: dict[str, str] | None = None
) -> Iterator[Hooked]:
    """Start the app with the hook; with `hold`, torch is not imported before `release()`."""
    if hold:
        (folder / "hold").touch()
    path = os.pathsep.join([str(HOOK), str(ROOT)])
    extra = {"SEQUENCE_EXPLORER_HOOK": str(folder), "PYTHONPATH": path, **(environment or {})}
    with serve(folder / "streamlit.log", environment=extra, wait=PATIENCE) as server:
        yield Hooked(server, folder)
