"""Agent in a hurry at a real desk: types 12 keys a second, slips, and looks at the screen last.

Before each Ctrl+Enter it writes the screen into the ledger; later messages of the page (taken back,
refused, not sent) follow. It never asks the service for the results.
"""

import random
import re
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import requests
from playwright.sync_api import BrowserContext, Error, Page

KEY_MS = 1000 / 12
LIST = "/admin/tickets/ticket/"
# Timeout for a page to show something; a busy machine is slow.
PATIENCE_SECONDS = 20.0
SLIPS = (
    *("none",) * 6,
    "wrong suffix",
    "random words",
    "back",
    "reload",
    "two tabs",
    "network before",
    "network after",
    "session",
    "twice",
    "undo",
    "undo and again",
    "company writes",
    "company writes after",
)
KINDS = (*("reply",) * 4, "note", "request", "decline", "decline by macro", "accept")
MACROS = {"request": "Solicitar: factura", "decline by macro": "Rechazar: faltan pruebas"}
LOOK = Path(__file__).with_suffix(".js").read_text()
Screen = dict[str, Any]


class Desk(NamedTuple):
    """Things that a hand needs besides its browser."""

    base: str
    # Ends all the agent's sessions on the server, signs in again and returns the cookie.
    sign_in: Callable[[], Any]
    sign_out: Callable[[], object]
    # Token of each ticket's company.
    tokens: dict[int, str]
    write: Callable[[dict[str, Any]], None]


class Hand:
    """Agent in a browser window."""

    def __init__(self, name: str, context: BrowserContext, desk: Desk, dice: random.Random) -> None:
        self.name, self.context, self.desk, self.dice = name, context, desk, dice
        self.page: Page = context.new_page()
        self.counts: Counter[str] = Counter()
        self.number = 0

    def look(self) -> Screen:
        """Return the current screen, once the page has loaded."""
        deadline = time.monotonic() + PATIENCE_SECONDS
        while True:
            try:
                return dict(self.page.evaluate(LOOK))
            except Error:
                # A page is loading.
                if time.monotonic() > deadline:
                    raise
                time.sleep(0.05)

    def until(self, matches: Callable[[Screen], Any], seconds: float = PATIENCE_SECONDS) -> Screen:
        """Return the first screen that meets a condition, or the last one before the timeout."""
        deadline = time.monotonic() + seconds
        while not matches(screen := self.look()) and time.monotonic() < deadline:
            time.sleep(0.05)
        return screen

    def press(self, *keys: str) -> None:
        for key in keys:
            self.page.keyboard.press(key)
            time.sleep(KEY_MS / 1000)

    def type(self, text: str) -> None:
        self.page.keyboard.type(text, delay=KEY_MS)

    def visit(self, address: str) -> None:
        for _ in range(3):
            try:
                self.page.goto(address)
            except Error:
                time.sleep(0.5)
                continue
            if not self.look()["signedOut"]:
                return
            self.context.add_cookies([self.desk.sign_in()])

    def write(self, event: str, **facts: Any) -> None:
        self.desk.write({"agent": self.name, "act": self.number, "event": event, **facts})

    def episode(self, ticket: int, kind: str = "", slip: str = "") -> None:
        """Open a ticket and act on it, with a slip; act and slip are random if empty."""
        self.number += 1
        kind, slip = kind or self.dice.choice(KINDS), slip or self.dice.choice(SLIPS)
        self.counts[f"act: {kind}"] += 1
        self.counts[f"slip: {slip}"] += 1
        self.visit(f"{LIST}?queue=open")
        self.visit(f"{LIST}{ticket}/change/")
        screen = self.until(lambda one: one["ticket"] == ticket and one["focus"] is not None)
        if "Held" in screen["refusal"]:
            self.write("held", ticket=ticket, text=screen["text"])
        mark = f"{self.name}{self.number:04}"
        self.write("meant", ticket=ticket, kind=kind, slip=slip, mark=mark)
        if not self.begin(ticket, kind, slip, mark):
            return
        self.finish(ticket, slip, mark)

    def begin(self, ticket: int, kind: str, slip: str, mark: str) -> bool:
        """Type the act; return False if nothing is to be sent."""
        if kind in MACROS:
            self.press("m")
            if slip in ("wrong suffix", "random words"):
                self.type(f"{MACROS[kind]} ya" if slip == "wrong suffix" else "zapato azul")
                self.send(ticket, mark)
                self.press("Escape", "Escape")
                return False
            if kind == "request":
                # The exact name, although a longer one exists. It decides nothing: one Ctrl+Enter
                # sends it.
                self.type(MACROS[kind].upper())
                return True
            self.type(MACROS[kind].split(": ")[1].upper())
            self.press("Control+Enter")
            self.until(lambda one: one["typing"] or one["asks"], 3)
            return True
        if kind in ("decline", "accept"):
            self.press(kind[0])
            if self.until(lambda one: one["asks"] or not one["ticket"], 3)["asks"]:
                self.type(f"bNo {mark}." if kind == "decline" else f"aSi {mark}.")
                return True
            # The ticket is decided already, so there is no dialog.
            return False
        self.press("n" if kind == "note" else "r")
        self.type(f"Hola {mark}.")
        return True

    def finish(self, ticket: int, slip: str, mark: str) -> None:
        """Send the act, with the slip, and note the page's message."""
        if slip == "reload":
            self.page.reload()
            self.until(lambda one: one["ticket"] == ticket)
            self.press("r")
        elif slip == "network before":
            self.network(offline=True)
        elif slip == "session":
            self.desk.sign_out()
        elif slip == "company writes":
            self.company_writes(ticket)
        outcome = self.send(ticket, mark, lose=slip == "network after", double=slip == "twice")
        if slip.startswith("network"):
            self.network()
            if not self.look()["ticket"]:
                # The browser shows its own error page.
                self.page.reload()
            if outcome in ("offline", "nothing") and self.until(lambda one: one["ticket"])["text"]:
                outcome = self.send(ticket, mark)
            elif outcome == "nothing" and self.arrived(self.look(), ticket, mark):
                self.write("said", ticket=ticket, mark=mark, said="waits")
        elif slip == "session" and outcome in ("signed out", "nothing"):
            self.visit(f"{LIST}{ticket}/change/")
            self.press("r")
            outcome = self.send(ticket, mark)
        elif slip == "company writes" and outcome == "refused":
            self.press("r")
            self.send(ticket, mark)
        elif slip == "company writes after":
            self.company_writes(ticket)
        elif slip == "back":
            self.page.go_back()
            self.press("r", "Control+Enter")
        elif slip == "two tabs":
            self.other_tab(ticket, mark)
        elif slip.startswith("undo") and outcome == "waits":
            self.undo(ticket, mark, again=slip != "undo")

    def send(self, ticket: int, mark: str, *, lose: bool = False, double: bool = False) -> str:
        """Press Ctrl+Enter on the current screen; return the outcome that the page shows."""
        before = self.look()
        sends = before["typing"] or before["focus"] == "macro"
        self.write("confirmed", ticket=ticket, mark=mark, screen=before, sends=bool(sends))
        self.counts["confirmed"] += 1
        if lose:
            # The request arrives, but its answer is lost.
            self.network(latency=1500)
        self.page.keyboard.press("Control+Enter")
        if lose:
            time.sleep(0.5)
            self.network(offline=True)
        if double:
            self.press("Control+Enter")
        outcome = ""

        def outcome_of(one: Screen) -> str:
            nonlocal outcome
            # The page has left the ticket, or its box is empty.
            has_left = one["ticket"] != ticket or not (one["text"] or one["focus"] == "macro")
            if one["signedOut"]:
                outcome = "signed out"
            elif one["offline"]:
                outcome = "offline"
            elif has_left and self.waits(one, ticket):
                outcome = "waits"
            elif has_left and sends and any("Sent to the company" in each for each in one["bar"]):
                outcome = "sent"
            elif one["refusal"] and one["refusal"] != before["refusal"]:
                outcome = "refused"
            elif before["note"] and not one["text"] and one["ticket"] == ticket:
                outcome = "noted"
            elif one["asks"] or (one["focus"] == "macro" and one["hint"]):
                outcome = "asked"
            return outcome

        self.until(outcome_of, 3 if before["focus"] == "macro" and not before["chosen"] else 15)
        after = self.look()
        self.write("said", ticket=ticket, mark=mark, said=outcome or "nothing", screen=after)
        self.counts[f"said: {outcome or 'nothing'}"] += 1
        return outcome or "nothing"

    def network(self, *, offline: bool = False, latency: int = 0) -> None:
        """Slow down, cut or restore the page's network."""
        conditions = {"offline": offline, "latency": latency}
        session = self.context.new_cdp_session(self.page)
        session.send("Network.enable")
        session.send(
            "Network.emulateNetworkConditions",
            {**conditions, "downloadThroughput": -1, "uploadThroughput": -1},
        )

    def arrived(self, screen: Screen, ticket: int, mark: str) -> bool:
        return self.waits(screen, ticket) or any(mark in one for one in screen["thread"])

    def waits(self, screen: Screen, ticket: int) -> bool:
        return any(re.search(rf"\bticket {ticket}$", one) for one in screen["waits"])

    def undo(self, ticket: int, mark: str, *, again: bool) -> None:
        self.press("Escape", "z")
        back = self.until(lambda one: "Taken back" in one["refusal"], 6)
        if "Taken back" not in back["refusal"] or back["ticket"] != ticket:
            return
        self.write("taken back", ticket=ticket, mark=mark)
        self.counts["taken back"] += 1
        if again:
            self.press("r")
            self.type(" Y mas.")
            self.send(ticket, mark)

    def other_tab(self, ticket: int, mark: str) -> None:
        """Send the same ticket from a second tab, which may have the same draft."""
        first, self.page = self.page, self.context.new_page()
        try:
            self.visit(f"{LIST}{ticket}/change/")
            self.press("r")
            self.send(ticket, mark)
        finally:
            self.page.close()
            self.page = first

    def company_writes(self, ticket: int) -> None:
        self.counts["company writes"] += 1
        requests.post(
            f"{self.desk.base}/company/tickets/{ticket}/comments",
            json={"comment": f"Llego otra foto ({self.number})."},
            headers={"Authorization": f"Bearer {self.desk.tokens[ticket]}"},
            timeout=PATIENCE_SECONDS,
        )

    def settle(self) -> None:
        """Wait until all replies are sent, and note the held ones."""
        self.network()
        self.visit("/admin/")
        for line in self.until(lambda one: not one["waits"], 60)["held"]:
            ticket = int(line.partition("ticket ")[2].split()[0])
            self.visit(f"{LIST}{ticket}/change/")
            self.write("held", ticket=ticket, text=self.look()["text"])
