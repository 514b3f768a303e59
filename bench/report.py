"""The pages with figures and their pictures, written anew from bench/results."""

import re
import sys
from collections.abc import Callable
from typing import Any

from bench import hour_picture, pictures, results, sections
from bench.results import Kept
from devtools.bootstrap import ROOT

PAGE = ROOT / "docs" / "performance.md"
# What the figures mean for those who grow.
GROWING = ROOT / "docs" / "operations" / "growing.md"
PICTURES = ROOT / "docs" / "pictures"
# What stands between these two comments belongs to this program, everything else to people.
PART = re.compile(r"(<!-- figures: (\w+) -->\n).*?(<!-- end of figures -->)", re.DOTALL)

DRAWN: dict[str, tuple[str, str, Callable[[dict[str, Any]], str]]] = {
    "drain": ("throughput.svg", "Deliveries a second over what waits", pictures.throughput),
    "isolation": ("isolation.svg", "Latency of the healthy webhooks", pictures.isolation),
    "hour": ("hour.svg", "From commit to receiver, by the minute", hour_picture.hour),
}


def main(arguments: list[str]) -> int:
    if arguments:
        sys.exit("bench/report takes no arguments: it writes the pages with figures anew")
    write()
    return 0


def write() -> None:
    for page in (PAGE, GROWING):
        page.write_text(filled_in(page.read_text()))


def filled_in(text: str) -> str:
    """The page with its figures as they are kept now."""
    return PART.sub(lambda part: f"{part[1]}\n{filled(part[2])}\n\n{part[3]}", text)


# Tables that follow from what another command has measured.
MEASURED_BY = {"needs": "workers"}


def filled(name: str) -> str:
    measured = MEASURED_BY.get(name, name)
    kept = results.of(measured)
    if kept is None:
        return f"Not measured yet: `bench/{measured} --write`."
    parts = [sections.SECTIONS[name](kept.figures), measured_on(kept)]
    if name in DRAWN:
        file, words, draw = DRAWN[name]
        PICTURES.mkdir(exist_ok=True)
        (PICTURES / file).write_text(draw(kept.figures))
        parts.insert(1, f"![{words}](pictures/{file})")
    return "\n\n".join(parts)


def measured_on(kept: Kept) -> str:
    machine, postgres = kept.machine, kept.machine["postgres"]
    return (
        f"`{kept.command}`, {machine['measured_at']}: {machine['cores']} cores of"
        f" {machine['processor']} ({machine['additions_per_us']} additions of Python in a"
        f" microsecond), {machine['memory_gb']} GB, {machine['system']},"
        f" {machine['file_system']}, Python {machine['python']}, PostgreSQL"
        f" {postgres['server_version']} with fsync {postgres['fsync']} and synchronous_commit"
        f" {postgres['synchronous_commit']}; load before the run {machine['load_before']}."
    )
