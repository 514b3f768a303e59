"""The table of moves in docs/desk.md matches the statuses."""

from pathlib import Path

from tickets.statuses import AGENT_MOVES

PAGE = Path(__file__).resolve().parents[2] / "docs" / "desk.md"
NEEDS = {(False, False): "nothing", (True, False): "a reason"}
NEEDS[True, True] = "a reason, or the documents that are missing"


def test_manual_lists_every_move() -> None:
    text = PAGE.read_text()
    rows = text[text.index("| move | to |") :].partition("\n\n")[0].splitlines()[2:]

    assert [tuple(cell.strip() for cell in row.strip("|").split("|")) for row in rows] == [
        (
            move.verb,
            to.label,
            NEEDS[move.needs_reason, move.requests_documents],
            "the company" if move.notifies_company else "agents",
        )
        for to, move in AGENT_MOVES.items()
    ], "docs/desk.md, the table that begins with | move | to |: a row for each move, in this order"
