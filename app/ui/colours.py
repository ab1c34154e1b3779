"""The colour language, in one place: source rows blue, target rows orange, state violet, decisions green.

Pages and components use the CSS variables (`var(--se-source)`, `var(--se-seq-4)`, ...): they are defined once for the
document, follow the theme by CSS `light-dark()` and are inherited into the shadow roots of components. Each is
registered as a colour, so `getComputedStyle(element).getPropertyValue("--se-source")` gives a canvas plain `rgb()`.
Figures (Plotly, Altair) take the hex values as arguments: `colours.sequential("dark")`.

The scales are monotone in lightness, and no distinction rests on red against green: every check also carries a sign.
"""

from __future__ import annotations

from typing import Literal

Theme = Literal["light", "dark"]
COLOUR_SYNTAX = (
    r"\3c color\3e "  # "<color>", spelled so that the browser's sanitiser does not take it for a tag
)

# role: (light, dark). "soft" is the role's background tint.
ROLES: dict[str, tuple[str, str]] = {
    "source": ("#2360c5", "#82b4ff"),
    "source-soft": ("#e8f0fd", "#16294a"),
    "target": ("#b45207", "#f5a55f"),
    "target-soft": ("#fdf0e4", "#3b2512"),
    "state": ("#6941d9", "#b8a4ff"),
    "state-soft": ("#f0ecfe", "#2a2050"),
    "decision": ("#17744a", "#63cf97"),
    "decision-soft": ("#e5f5ec", "#12321f"),
    "bad": ("#b3261e", "#ff9389"),
    "bad-soft": ("#fdeceb", "#431a17"),
    "masked": ("#eceff3", "#20262e"),
    "masked-line": ("#b7bfca", "#4c5663"),
    "ink": ("#1a1f26", "#e7ebf1"),
    "mute": ("#586270", "#9ba7b6"),
    "line": ("#e2e6ec", "#2b333e"),
    "card": ("#ffffff", "#151a21"),
    "page": ("#ffffff", "#0e1217"),
}

# Weight 0..1 and signed difference -1..1, nine stops each: (light, dark).
SEQUENTIAL: tuple[tuple[str, str], ...] = (
    ("#f4f7fb", "#171d26"),
    ("#dfe8f5", "#1b2a42"),
    ("#c5d6ee", "#20395f"),
    ("#a4bfe5", "#284b80"),
    ("#7fa4d9", "#3560a3"),
    ("#5b88cb", "#4a7cc6"),
    ("#3d6eb9", "#6c9be0"),
    ("#2757a4", "#98bdf3"),
    ("#17418a", "#cfe1ff"),
)
DIVERGING: tuple[tuple[str, str], ...] = (
    ("#8c2d14", "#ffb79c"),
    ("#bb5533", "#e28a66"),
    ("#dd8d6c", "#a85b3d"),
    ("#f2c9b5", "#623a2c"),
    ("#f5f6f7", "#1d232b"),
    ("#c0d8e6", "#24455a"),
    ("#7fb2cf", "#31708f"),
    ("#3a84ad", "#58a5cb"),
    ("#0f5680", "#a5daf5"),
)
# Lines of several systems in one chart: distinguishable with every common colour vision.
SERIES: tuple[tuple[str, str], ...] = (
    ("#2360c5", "#82b4ff"),
    ("#d9730d", "#f5a55f"),
    ("#6941d9", "#b8a4ff"),
    ("#17744a", "#63cf97"),
    ("#c2418c", "#f48fc4"),
    ("#0b8398", "#5cc9dc"),
    ("#8a6a00", "#dcbf5a"),
    ("#586270", "#9ba7b6"),
    # Streamlit colours Plotly lines from the theme only when it is given ten.
    ("#4d7a16", "#a9d27c"),
    ("#7d3b2a", "#e2a58f"),
)


def role(name: str, theme: Theme = "light") -> str:
    """Hex colour of one role. KeyError where the language has no such role."""
    return ROLES[name][_column(theme)]


def sequential(theme: Theme = "light") -> list[str]:
    """Nine hex stops for a weight from 0 to 1."""
    return [pair[_column(theme)] for pair in SEQUENTIAL]


def diverging(theme: Theme = "light") -> list[str]:
    """Nine hex stops for a difference from -1 to 1; the fifth is no difference."""
    return [pair[_column(theme)] for pair in DIVERGING]


def series(theme: Theme = "light") -> list[str]:
    """Hex colours for the lines of several systems, in catalog order."""
    return [pair[_column(theme)] for pair in SERIES]


def at(stops: list[str], value: float) -> str:
    """Hex colour at `value` (0..1, clipped) on a scale of equally spaced stops."""
    place = min(max(value, 0.0), 1.0) * (len(stops) - 1)
    low = min(int(place), len(stops) - 2)
    return _mix(stops[low], stops[low + 1], place - low)


def ink_on(background: str) -> str:
    """Black or white, whichever reads better on `background` (WCAG relative luminance)."""
    return "#10141a" if _luminance(background) > 0.22 else "#ffffff"


def contrast(first: str, second: str) -> float:
    """WCAG contrast ratio of two hex colours, 1 to 21."""
    high, low = sorted((_luminance(first), _luminance(second)), reverse=True)
    return (high + 0.05) / (low + 0.05)


def css() -> str:
    """The style sheet text that defines every `--se-*` variable for both themes."""
    pairs = {f"--se-{name}": pair for name, pair in ROLES.items()}
    for prefix, scale in (("seq", SEQUENTIAL), ("div", DIVERGING), ("series", SERIES)):
        pairs |= {f"--se-{prefix}-{index}": pair for index, pair in enumerate(scale)}
    registered = "".join(
        f"@property {name}{{syntax:'{COLOUR_SYNTAX}';inherits:true;initial-value:{light}}}"
        for name, (light, _) in pairs.items()
    )
    values = "".join(f"{name}:light-dark({light},{dark});" for name, (light, dark) in pairs.items())
    hatch = (
        "--se-hatch:repeating-linear-gradient(135deg,"
        "var(--se-masked) 0 3px,var(--se-masked-line) 3px 4px,var(--se-masked) 4px 6px);"
    )
    # Streamlit sets color-scheme on these two and on each layer that floats above them.
    return f"{registered}.stApp,[data-testid=stSidebar],[data-baseweb=layer]{{{values}{hatch}}}"


def _column(theme: Theme) -> int:
    return 1 if theme == "dark" else 0


def _channels(colour: str) -> tuple[int, int, int]:
    return int(colour[1:3], 16), int(colour[3:5], 16), int(colour[5:7], 16)


def _mix(first: str, second: str, share: float) -> str:
    pairs = zip(_channels(first), _channels(second), strict=True)
    return "#" + "".join(f"{round(a + (b - a) * share):02x}" for a, b in pairs)


def _luminance(colour: str) -> float:
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in _unit(colour)]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def _unit(colour: str) -> list[float]:
    return [channel / 255 for channel in _channels(colour)]
