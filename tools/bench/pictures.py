"""Pictures of the figures, as SVG that suits light and dark pages."""

import math
from collections.abc import Iterable
from typing import Any
from xml.sax.saxutils import escape

WIDTH, HEIGHT = 720, 360
LEFT_MARGIN, RIGHT, TOP, BOTTOM = 70, 170, 40, 50
STYLE = """
text { font: 13px sans-serif; fill: #1f2328 }
.line { stroke: #59636e; stroke-opacity: .35 } .ours { stroke: #0969da; fill: #0969da }
.curve { fill: none; stroke-width: 2.5 } .peer { stroke: #bc4c00; stroke-dasharray: 5 4 }
.one { fill: #0969da } .two { fill: #bc4c00 }
@media (prefers-color-scheme: dark) {
  text { fill: #e6edf3 } .ours { stroke: #4493f8; fill: #4493f8 }
  .peer { stroke: #f0883e } .one { fill: #4493f8 } .two { fill: #f0883e }
}
"""
PEERS = {"django-webhook": "django-webhook", "plain": "a task per delivery"}


class Scale:
    """Logarithmic scale from values to coordinates."""

    def __init__(self, values: Iterable[float], start: float, end: float) -> None:
        logs = [math.log10(value) for value in values]
        self.low, self.high = math.floor(min(logs)), math.ceil(max(logs))
        self.high = max(self.high, self.low + 1)
        self.start, self.end = start, end

    def place(self, value: float) -> float:
        share = (math.log10(value) - self.low) / (self.high - self.low)
        return round(self.start + share * (self.end - self.start), 1)

    def marks(self) -> list[int]:
        return [10**power for power in range(self.low, self.high + 1)]


def throughput(figures: dict[str, Any]) -> str:
    """Draw throughput over backlog size; logarithmic, or the peers would vanish at the bottom."""
    ours = [(each["size"], each["deliveries_per_s"]) for each in figures["by_size"]]
    peers = {
        words: figures["peers"][name]["deliveries_per_s"]
        for name, words in PEERS.items()
        if name in figures["peers"]
    }
    across = Scale([size for size, _ in ours], LEFT_MARGIN, WIDTH - RIGHT)
    up = Scale([*(rate for _, rate in ours), *peers.values()], HEIGHT - BOTTOM, TOP)
    parts = [text(LEFT_MARGIN, 20, "Deliveries a second, over how many wait")]
    for mark in up.marks():
        parts += [
            level(up.place(mark), "line"),
            text(LEFT_MARGIN - 8, up.place(mark) + 4, mark, "end"),
        ]
    for mark in across.marks():
        parts.append(text(across.place(mark), HEIGHT - BOTTOM + 22, mark, "middle"))
    points = [(across.place(size), up.place(rate)) for size, rate in ours]
    line = " ".join(f"{x},{y}" for x, y in points)
    parts.append(f'<polyline class="ours curve" points="{line}"/>')
    parts += [f'<circle class="ours" cx="{x}" cy="{y}" r="4"/>' for x, y in points]
    labels = {
        "parceldesk": points[-1][1],
        **{words: up.place(rate) for words, rate in peers.items()},
    }
    parts += [level(labels[words], "peer") for words in peers]
    for words, y in apart(labels).items():
        parts.append(text(WIDTH - RIGHT + 10, y + 4, words))
    return svg(parts)


def apart(labels: dict[str, float], by: float = 17) -> dict[str, float]:
    """Move labels down where they would overlap."""
    placed: dict[str, float] = {}
    last = -math.inf
    for words, y in sorted(labels.items(), key=lambda label: label[1]):
        last = placed[words] = max(y, last + by)
    return placed


def text(x: float, y: float, words: object, anchor: str = "start") -> str:
    label = f"{words:,}" if isinstance(words, int) else escape(str(words))
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{label}</text>'


def level(y: float, kind: str) -> str:
    return f'<line class="{kind}" x1="{LEFT_MARGIN}" x2="{WIDTH - RIGHT}" y1="{y}" y2="{y}"/>'


def svg(parts: list[str], height: int = HEIGHT, style: str = STYLE) -> str:
    inside = "\n".join([f"<style>{style}</style>", *parts])
    size = f'width="{WIDTH}" height="{height}" viewBox="0 0 {WIDTH} {height}"'
    return f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img">\n{inside}\n</svg>\n'
