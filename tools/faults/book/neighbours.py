"""Groups G and H: attacks of a company, or a stranger, on all others, played by `hostile`."""

from tools.faults.book.fault import Fault
from tools.faults.hostile.names import COMPANY_ATTACKS, STRANGER_ATTACKS


def attacks(group: str, words_by_name: dict[str, str]) -> tuple[Fault, ...]:
    return tuple(
        Fault(f"{group}{number}", words, (f"hostile {name}",))
        for number, (name, words) in enumerate(words_by_name.items(), start=1)
    )


NEIGHBOURS = (*attacks("G", COMPANY_ATTACKS), *attacks("H", STRANGER_ATTACKS))
