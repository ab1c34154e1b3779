"""What does each trained system keep of one sentence, and what does it make of it?"""

from __future__ import annotations

from dataclasses import dataclass

from app.ui.page import open_page
from app.ui.sentence_box import checked, sentence_box
from app.ui.url import text


@dataclass(frozen=True)
class Settings:
    """What the visitor chose."""

    sentence: str = text("s", default="The report was not convincing.")


page = open_page("home", Settings)
with page.controls():
    settings = page.commit(Settings(sentence=sentence_box(page)))
    cleaned = checked(settings.sentence)
page.close()
