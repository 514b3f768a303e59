"""Picture of an hour: latency by the minute, and below it a timeline of events."""

from typing import Any

from tools.bench.pictures import (
    BOTTOM,
    HEIGHT,
    LEFT_MARGIN,
    RIGHT,
    STYLE,
    TOP,
    WIDTH,
    Scale,
    apart,
    level,
    svg,
    text,
)

ROW, BAR = 20, 9
MORE_STYLE = """
.p50, .p99, .p999 { fill: none; stroke-width: 2 } .happened { fill: #59636e }
.p50 { stroke: #1a7f37 } .p99 { stroke: #0969da } .p999 { stroke: #bc4c00 }
.moment { stroke: #59636e; stroke-opacity: .6; stroke-dasharray: 2 3 }
@media (prefers-color-scheme: dark) {
  .p50 { stroke: #3fb950 } .p99 { stroke: #4493f8 } .p999 { stroke: #f0883e }
  .happened { fill: #9198a1 } .moment { stroke: #9198a1 }
}
"""
LINES = {"p50": "p50", "p99": "p99", "p999": "p99.9"}
# Readers look for these in the curves, so each gets a vertical line.
ABRUPT = ("worker killed", "deploy", "checkpoint")
STEPS = (1, 2, 5, 10, 15, 30, 60)
# Values drawn for events that did not arrive within a minute, and for those below the scale.
LONGEST_MS, SHORTEST_MS = 60_000.0, 0.1


def hour(figures: dict[str, Any]) -> str:
    minutes = figures["minutes"]
    length = minutes[-1]["minute"]
    lines = {name: [height(each[f"{name}_ms"]) for each in minutes] for name in LINES}
    heights = [value for line in lines.values() for value in line]
    up = Scale([*heights, figures["longest_ms"]], HEIGHT - BOTTOM, TOP)
    parts = [text(LEFT_MARGIN, 20, "Milliseconds from commit to receiver, by the minute")]
    for mark in up.marks():
        parts += [
            level(up.place(mark), "line"),
            text(LEFT_MARGIN - 8, up.place(mark) + 4, mark, "end"),
        ]
    parts += axis(length)
    parts.append(level(up.place(figures["longest_ms"]), "peer"))
    labels = {"goal of p99.9": up.place(figures["longest_ms"])}
    for name, heights in lines.items():
        places = [
            (across(each["minute"] - length / len(minutes) / 2, length), up.place(value))
            for each, value in zip(minutes, heights, strict=True)
        ]
        points = " ".join(f"{x:.1f},{y}" for x, y in places)
        parts.append(f'<polyline class="{name}" points="{points}"/>')
        labels[LINES[name]] = places[-1][1]
    kinds = {words: name for name, words in LINES.items()}
    for words, y in apart(labels).items():
        x = WIDTH - RIGHT + 8
        parts.append(f'<path class="{kinds.get(words, "peer")}" d="M{x},{y}h16"/>')
        parts.append(text(x + 22, y + 4, words))
    happened = by_word(figures["marks"], length)
    return svg(
        [*parts, *timeline(happened, length)], HEIGHT + ROW * len(happened), STYLE + MORE_STYLE
    )


def height(milliseconds: float | None) -> float:
    return LONGEST_MS if milliseconds is None else max(SHORTEST_MS, milliseconds)


def across(minute: float, length: float) -> float:
    return LEFT_MARGIN + (WIDTH - LEFT_MARGIN - RIGHT) * minute / length


def axis(length: float) -> list[str]:
    step = next((each for each in STEPS if length / each <= len(STEPS)), STEPS[-1])
    return [
        text(across(minute, length), HEIGHT - BOTTOM + 20, minute, "middle")
        for minute in range(0, int(length) + 1, step)
    ]


def by_word(marks: list[dict[str, Any]], length: float) -> dict[str, list[tuple[float, float]]]:
    """Return beginnings and ends in minutes by word, cut to the measured time."""
    spans: dict[str, list[tuple[float, float]]] = {}
    for mark in marks:
        since, until = mark["at"] / 60, min(mark["end"] / 60, length)
        if 0 <= since < length:
            spans.setdefault(mark["word"], []).append((since, until))
    return spans


def timeline(happened: dict[str, list[tuple[float, float]]], length: float) -> list[str]:
    """Draw a row for each word, with a bar for each of its spans."""
    parts = []
    for number, (word, spans) in enumerate(happened.items()):
        y = HEIGHT - 12 + ROW * number
        parts.append(text(WIDTH - RIGHT + 10, y + BAR, word))
        for since, until in spans:
            x = across(since, length)
            width = max(2.0, across(until, length) - x)
            parts.append(
                f'<rect class="happened" x="{x:.1f}" y="{y}" width="{width:.1f}" height="{BAR}"/>'
            )
            if word in ABRUPT:
                parts.append(
                    f'<line class="moment" x1="{x:.1f}" x2="{x:.1f}" y1="{TOP}" y2="{y}"/>'
                )
    return parts
