"""Which source rows does each output word read, and when in the step?"""

from __future__ import annotations

from dataclasses import dataclass

from app.ui.page import open_page
from app.ui.sentence_box import checked, sentence_box
from app.ui.url import text


@dataclass(frozen=True)
class Settings:
    """What the visitor chose."""

    sentence: str = text("s", default="The report was not convincing.")


page = open_page("alignment", Settings)
with page.controls():
    settings = page.commit(Settings(sentence=sentence_box(page)))
    cleaned = checked(settings.sentence)
page.close()
