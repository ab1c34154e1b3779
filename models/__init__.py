"""Sequence models with their mechanisms in view.

    import models
    rnn = models.load("rnn_search")
    found = rnn.translate("The report was not convincing.")
    print(found.text, found.alignment)

Importing this package imports no torch; `load` does.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from models.execution.checkpoints import CheckpointError

if TYPE_CHECKING:
    from models.interactive import Translator

__all__ = ["CheckpointError", "load"]


def load(slug: str) -> Translator:
    """The trained system called slug, shared by everyone in this process and read-only.

    Raises KeyError for an unknown slug and CheckpointError when its files are missing or damaged.
    """
    from models.interactive import load_translator

    return load_translator(slug)
