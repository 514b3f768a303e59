"""Memory of whole process trees, read from /proc; shared pages are split evenly."""

from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from tools.bench import cpu


@dataclass(frozen=True)
class Memory:
    """Proportional set size in megabytes: a page that several processes share is split evenly.

    `parts` are Python's objects, libraries with the interpreter, and the rest; `each` is the share
    of each process, the largest first.
    """

    pss_mb: float
    parts: dict[str, float]
    each: list[float]

    @property
    def processes(self) -> int:
        return len(self.each)

    def row(self) -> dict[str, object]:
        return {
            "processes": self.processes,
            "pss_mb": self.pss_mb,
            "parts_mb": self.parts,
            "each_mb": self.each,
        }


def of_tree(root: int) -> Memory:
    """Measure a process and its descendants."""
    parts: Counter[str] = Counter()
    each = []
    for pid in cpu.tree(root):
        try:
            rollup = Path(f"/proc/{pid}/smaps_rollup").read_text()
            maps = Path(f"/proc/{pid}/smaps").read_text()
        except (FileNotFoundError, ProcessLookupError):
            continue
        each.append(pss(rollup) / 1024)
        parts.update(by_kind(maps))
    mb = {kind: round(kilobytes / 1024, 1) for kind, kilobytes in parts.most_common()}
    return Memory(round(sum(each), 1), mb, sorted((round(one, 1) for one in each), reverse=True))


def pss(rollup: str) -> int:
    """Return the kilobytes in the text of a smaps_rollup."""
    line = next(line for line in rollup.splitlines() if line.startswith("Pss:"))
    return int(line.split()[1])


def by_kind(maps: str) -> Counter[str]:
    """Sum the kilobytes by kind in the text of a smaps."""
    kilobytes: Counter[str] = Counter()
    kind = ""
    for line in maps.splitlines():
        word, *rest = line.split()
        if not word.endswith(":"):
            kind = kind_of(rest[4] if len(rest) > 4 else "")
        elif word == "Pss:":
            kilobytes[kind] += int(rest[0])
    return kilobytes


def kind_of(name: str) -> str:
    """Return the kind of a mapping by the kernel's name for it, "" for anonymous memory."""
    if name in ("", "[heap]"):
        return "objects"
    file = Path(name).name
    return "libraries" if ".so" in file or "python" in file else "other"
