"""Python runs this before anything else where this folder is on PYTHONPATH: the server under test reports on itself.

In the folder named by SEQUENCE_EXPLORER_HOOK:
`torch` is written (with the time) when the import of torch begins, `torch_done` when it has ended; while `hold` exists
that import waits;
on SIGUSR1 `report.json` says what the garbage collector has frozen and whether torch is loaded.
"""

from __future__ import annotations

import gc
import json
import os
import signal
import sys
import time
from collections.abc import Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec
from importlib.util import find_spec
from pathlib import Path
from types import FrameType, ModuleType

FOLDER = Path(os.environ["SEQUENCE_EXPLORER_HOOK"])


class Watch(MetaPathFinder):
    """Is asked first, and so knows when torch is wanted; finds it as Python would, with a wait before it is made.

    The wait is not here: finders run under the lock that every import of the process needs for a moment.
    """

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Note the first import of torch, and keep it waiting while `hold` exists."""
        if fullname != "torch":
            return None
        sys.meta_path.remove(self)
        (FOLDER / "torch").write_text(str(time.time()))
        spec = find_spec(fullname)
        assert spec is not None and spec.loader is not None
        make, execute = spec.loader.create_module, spec.loader.exec_module

        def wait(spec: ModuleSpec) -> ModuleType | None:
            while (FOLDER / "hold").exists():
                time.sleep(0.01)
            return make(spec)

        def done(module: ModuleType) -> None:
            execute(module)
            (FOLDER / "torch_done").write_text(str(time.time()))

        spec.loader.create_module, spec.loader.exec_module = wait, done
        return spec


def report(_signal: int, _frame: FrameType | None) -> None:
    """Write the state of this process; the rename makes the file appear whole."""
    facts = {
        "frozen": gc.get_freeze_count(),
        "torch": "torch" in sys.modules,
        "modules": len(sys.modules),
        "gc_enabled": gc.isenabled(),
    }
    draft = FOLDER / "report.draft"
    draft.write_text(json.dumps(facts))
    draft.replace(FOLDER / "report.json")


sys.meta_path.insert(0, Watch())
signal.signal(signal.SIGUSR1, report)
