"""Groups G and H: one company, or a stranger, against all others, as `hostile` plays them."""

from tools.faults.book.fault import Fault
from tools.faults.hostile.names import COMPANY_ATTACKS, STRANGER_ATTACKS


def attacks(group: str, known: dict[str, str]) -> tuple[Fault, ...]:
    return tuple(
        Fault(f"{group}{number}", words, (f"hostile {name}",))
        for number, (name, words) in enumerate(known.items(), start=1)
    )


NEIGHBOURS = (*attacks("G", COMPANY_ATTACKS), *attacks("H", STRANGER_ATTACKS))
