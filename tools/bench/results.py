"""Stored figures of each scenario's last run with --write, and their pictures."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from tools.bench import hour_picture, pictures

FOLDER = Path(__file__).resolve().parent / "results"
PICTURES = FOLDER.parents[2] / "docs" / "pictures"
DRAWN: dict[str, tuple[str, Callable[[dict[str, Any]], str]]] = {
    "drain": ("throughput.svg", pictures.throughput),
    "hour": ("hour.svg", hour_picture.hour),
}


class Result(NamedTuple):
    command: str
    machine: dict[str, Any]
    figures: dict[str, Any]


def keep(name: str, result: Result) -> None:
    (FOLDER / f"{name}.json").write_text(json.dumps(result._asdict(), indent=1) + "\n")
    if name in DRAWN:
        file, draw = DRAWN[name]
        (PICTURES / file).write_text(draw(result.figures))
