"""Small browser components: one script and one thin binding each. They know arrays and labels, nothing of ours."""

from __future__ import annotations

from app.components._payload import Selection
from app.components.heatmap import heatmap
from app.components.ribbon import ribbon
from app.components.step_player import Stage, step_player
from app.components.token_strip import token_strip

__all__ = ["Selection", "Stage", "heatmap", "ribbon", "step_player", "token_strip"]
