"""The figures of the last run of each scenario that was asked to keep them."""

import json
from pathlib import Path
from typing import Any, NamedTuple

FOLDER = Path(__file__).resolve().parent / "results"


class Kept(NamedTuple):
    command: str
    machine: dict[str, Any]
    figures: dict[str, Any]


def keep(name: str, kept: Kept) -> None:
    (FOLDER / f"{name}.json").write_text(json.dumps(kept._asdict(), indent=1) + "\n")


def of(name: str) -> Kept | None:
    """None while nobody has kept any."""
    file = FOLDER / f"{name}.json"
    return Kept(**json.loads(file.read_text())) if file.exists() else None
