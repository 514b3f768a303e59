"""Agents in a hurry and twelve companies: what was confirmed on the screen arrives exactly once.

A judge compares the ledger of the hands with what the companies got: comments over REST, events
at a webhook, and emails. It does not query the desk.
"""

import argparse
import email
import email.policy
import json
import random
import re
import shutil
import socketserver
import sys
import threading
import time
from collections import Counter, defaultdict
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import requests
from django.contrib.auth.models import User
from django.test import Client
from playwright.sync_api import Error, sync_playwright

from companies.models import Company
from companies.services import create_company, issue_token
from desk.common import sessions
from desk.models import Macro
from tickets.models import Agent, ReasonCode
from tickets.roles import group
from tickets.statuses import Status
from tools.faults.hurried_hand import MACROS, Desk, Hand
from tools.faults.probing import address
from tools.faults.receiver import Receiver
from tools.faults.rig import Rig
from tools.faults.scenarios import until
from tools.faults.service import Service
from tools.faults.verdict import NotHere, Verdict
from webhooks.services import register_webhook

COMPANIES, TICKET_EVENTS, LOST = 12, 6, 4
# Decisions and requests that are sent by email too: ids of dialogs and of statuses.
MAILED = {"declined", "incomplete", "3", "4"}
DECIDED = {"declined": 3, "3": 3, "accepted": 2, "2": 2}
ARRIVED = ("waits", "sent")
Events = list[dict[str, Any]]


class Mailbox(socketserver.ThreadingTCPServer):
    """Mail server on loopback that stores its emails."""

    allow_reuse_address = daemon_threads = True

    def __init__(self) -> None:
        self.mails: list[str] = []
        super().__init__(("127.0.0.1", 0), Conversation)


class Conversation(socketserver.StreamRequestHandler):
    def handle(self) -> None:
        self.wfile.write(b"220 here\r\n")
        for line in self.rfile:
            verb = line[:4].upper().strip()
            if verb == b"DATA":
                self.wfile.write(b"354 go on\r\n")
                mail = b"".join(iter(self.rfile.readline, b".\r\n"))
                read = email.message_from_bytes(mail, policy=email.policy.default)
                body = read.get_body(("plain",))
                self.server.mails.append(body.get_content() if body else "")  # type: ignore[attr-defined]
            self.wfile.write(b"221 bye\r\n" if verb == b"QUIT" else b"250 ok\r\n")
            if verb == b"QUIT":
                return


def hurry(rig: Rig, args: argparse.Namespace) -> Verdict:
    """Run two hurried agents in real browsers: nothing unconfirmed, lost or sent twice."""
    return play(rig.service, rig.receiver, args.minutes, args.tickets, args.seed, args.ledger)


def play(
    service: Service, receiver: Receiver, minutes: float, tickets: int, seed: int, ledger: str = ""
) -> Verdict:
    if not (program := shutil.which("chromium") or shutil.which("chromium-browser")):
        raise NotHere("there is no chromium")
    with post_office() as mailbox, ThreadPoolExecutor(1) as clerk:
        service.environment |= {
            "EMAIL_HOST": "127.0.0.1",
            "EMAIL_PORT": str(mailbox.server_address[1]),
            "EMAIL_USE_TLS": "false",
        }
        for kind in ("web", "worker"):
            service.start(kind)
        until(partial(is_ready, service), 60)
        world = World(service, receiver, tickets)
        events = work(world, clerk, program, minutes, seed)
        if ledger:
            Path(ledger).write_text("".join(f"{json.dumps(one)}\n" for one in events))
        # Wait for the last email and event.
        time.sleep(8)
        return judge(world, mailbox, events)


@contextmanager
def post_office() -> Iterator[Mailbox]:
    with Mailbox() as mailbox:
        threading.Thread(target=mailbox.serve_forever, daemon=True).start()
        yield mailbox
        mailbox.shutdown()


def is_ready(service: Service) -> bool:
    try:
        return requests.get(address(service, "/readyz"), timeout=10).ok
    except requests.RequestException:
        return False


class World:
    """Twelve companies with a webhook and an email address each, tickets, two agents, macros."""

    def __init__(self, service: Service, receiver: Receiver, tickets: int) -> None:
        self.base = address(service, "")
        self.receiver = receiver
        self.tokens: dict[int, str] = {}
        companies = [self.company(number) for number in range(COMPANIES)]
        code = ReasonCode.objects.get(code="evidence_missing")
        text = "Sin factura no procede el ticket {ticket}."
        names = (MACROS["decline by macro"], "Rechazar: fuera de plazo")
        for name in names:
            Macro.objects.create(name=name, text=text, move_to=Status.DECLINED, reason_code=code)
        asking = {"move_to": Status.INCOMPLETE, "requested": "Factura"}
        text = "Para el ticket {ticket} falta la factura."
        Macro.objects.create(name=MACROS["request"], text=text, **asking)
        Macro.objects.create(name=f"{MACROS['request']} y fotos", text="Faltan fotos.", **asking)
        self.users = [self.agent(name) for name in ("ada", "ben")]
        self.tickets = [self.ticket(companies[n % COMPANIES], n) for n in range(tickets)]

    def company(self, number: int) -> tuple[Company, str]:
        company = create_company(f"Company {number}", contact_email=f"c{number}@shop.example")
        register_webhook(company, type_id=TICKET_EVENTS, url=f"{self.receiver.url}/{number}")
        return company, issue_token(company.pk)

    def agent(self, name: str) -> User:
        user = User.objects.create_user(name, is_staff=True)
        user.groups.add(group("agent"))
        Agent.objects.create(user=user, capacity=10_000)
        return user

    def ticket(self, of: tuple[Company, str], number: int) -> int:
        body: Any = {"type_id": LOST, "shipment_id": 9_000_000 + number, "comments": "No llega."}
        answer = requests.post(
            f"{self.base}/company/tickets", json=body, headers=key(of[1]), timeout=60
        )
        answer.raise_for_status()
        ticket_id = int(answer.json()["id"])
        self.tokens[ticket_id] = of[1]
        return ticket_id

    def got(self, ticket: int) -> dict[str, Any]:
        where = f"{self.base}/company/tickets/{ticket}?getComments=true"
        answer = requests.get(where, headers=key(self.tokens[ticket]), timeout=60)
        return dict(answer.json()["data"][0])


def key(token: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {token}"}


def work(
    world: World, clerk: ThreadPoolExecutor, program: str, minutes: float, seed: int
) -> Events:
    """Let both hands work until the time is over; return the ledger."""
    ends, events, lock = time.monotonic() + 60 * minutes, Events(), threading.Lock()

    def write(event: dict[str, Any]) -> None:
        with lock:
            events.append({"at": round(time.time(), 2), **event})

    def sign_in(user: User) -> Any:
        client = Client()
        client.force_login(user)
        (name, value), *_ = ((one.key, one.value) for one in client.cookies.values())
        return {"name": name, "value": value, "url": world.base}

    def shift(number: int) -> None:
        user = world.users[number]
        dice = random.Random(seed * 10 + number)  # noqa: S311
        desk = Desk(
            world.base,
            lambda: clerk.submit(sign_in, user).result(),
            lambda: clerk.submit(sessions.end_others, user, None).result(),
            world.tokens,
            write,
        )
        mine = world.tickets[number::2]
        with sync_playwright() as playwright:
            args = ["--headless", "--disable-gpu", "--no-sandbox", "--disable-quic"]
            browser = playwright.chromium.launch(executable_path=program, args=args)
            context = browser.new_context(base_url=world.base, locale="en")
            context.add_cookies([desk.sign_in()])
            hand = Hand(user.username, context, desk, dice)
            while time.monotonic() < ends:
                ticket = mine[hand.number % len(mine)]
                try:
                    hand.episode(ticket)
                except Error as error:
                    write({"agent": hand.name, "event": "trouble", "why": str(error)[:300]})
                    hand.network()
                if not hand.number % 10:
                    show(f"{hand.name}: {dict(sorted(hand.counts.items()))}")
            hand.settle()
            write({"agent": hand.name, "event": "end", "counts": dict(hand.counts)})
            browser.close()

    with ThreadPoolExecutor(2) as shifts:
        for future in [shifts.submit(shift, number) for number in range(2)]:
            future.result()
    return events


def show(line: str) -> None:
    print(f"hurry: {line}", file=sys.stderr, flush=True)


def fates_of(events: Events) -> list[dict[str, Any]]:
    """Return each text of each act, with its fate according to the screens."""
    acts: dict[tuple[str, int, str], dict[str, Any]] = {}
    pressed: dict[str, dict[str, Any]] = {}
    latest: dict[int, dict[str, Any]] = {}
    for one in events:
        ticket, agent = one.get("ticket", 0), one["agent"]
        if one["event"] == "confirmed":
            screen = one["screen"]
            text = screen["chosen"] if screen["focus"] == "macro" else screen["text"]
            if screen["focus"] == "macro" and "Incomplete" in screen["does"]:
                # The list next to the box shows this effect of the macro.
                screen = {**screen, "to": "4"}
            row = {"ticket": screen["ticket"], "text": plain(text), "fate": "not sent"}
            if one["sends"] and row["text"]:
                row = acts.setdefault((one["mark"], row["ticket"], row["text"]), row)
                if row["fate"] != "on its way":
                    # The last confirmation counts, such as one with another status.
                    row["screen"] = screen
            pressed[agent] = row
        elif one["event"] == "said" and "screen" in (row := pressed[agent]):
            outcome, note = one["said"], row["screen"]["note"]
            if outcome in ARRIVED or (outcome == "noted" and note):
                row["fate"] = "note" if note else "on its way"
                latest[row["ticket"]] = row
            elif outcome in ("nothing", "offline", "signed out") and row["fate"] == "not sent":
                row["fate"] = "unknown"
            elif outcome in ("refused", "asked") and row["fate"] == "unknown":
                row["fate"] = "not sent"
        elif one["event"] == "taken back" and ticket in latest:
            latest[ticket]["fate"] = "taken back"
        elif one["event"] == "held":
            for row in acts.values():
                same = row["ticket"] == ticket and row["text"] == plain(one["text"])
                if same and row["fate"] == "on its way":
                    row["fate"] = "held"
    return list(acts.values())


def judge(world: World, mailbox: Mailbox, events: Events) -> Verdict:
    """Compare confirmed texts with those the companies got, ticket by ticket."""
    acts, figures, troubles = fates_of(events), Counter[str](), []
    unique = {one.headers["X-Webhook-Id"]: json.loads(one.body) for one in world.receiver.log}
    news_texts: dict[int, Counter[str]] = defaultdict(Counter)
    for event in unique.values():
        comment = event["data"]["comment"]
        if comment and comment["type"] == "admin":
            news_texts[event["data"]["ticket_id"]][plain(comment["description"])] += 1
    mails = [re.sub(r"[\s>]+", " ", mail) for mail in mailbox.mails]
    for ticket in world.tickets:
        row, mine = world.got(ticket), [one for one in acts if one["ticket"] == ticket]
        got = Counter(
            plain(one["description"]) for one in row["allComments"] if one["type"] == "admin"
        )
        if got != news_texts[ticket]:
            troubles.append(f"ticket {ticket}: read {got}, heard {news_texts[ticket]}")
        texts = {one["text"] for one in mine}
        for text in texts | set(got):
            fates = Counter(one["fate"] for one in mine if one["text"] == text)
            least, many = fates["on its way"], got[text]
            most = least + fates["unknown"]
            figures["got"] += many
            figures["lost"] += max(0, least - many)
            figures["twice" if most else "unmeant"] += max(0, many - most)
            if not least <= many <= most:
                troubles.append(f"ticket {ticket}: {dict(fates)}, got {many} times: {text!r}")
            longer = [one for one in texts if text in one and one != text]
            mailed = sum(text in mail and not any(one in mail for one in longer) for mail in mails)
            asks = sum(
                one["text"] == text
                and one["screen"]["to"] in MAILED
                and one["fate"] == "on its way"
                for one in mine
            )
            if not fates["unknown"] and mailed != asks:
                troubles.append(f"ticket {ticket}: {mailed} emails, not {asks}: {text!r}")
        troubles += wrong_decision(row, mine)
        figures.update(f"confirmed: {one['fate']}" for one in mine)
    counts: Counter[str] = Counter()
    for one in events:
        counts.update(one.get("counts", {}))
    figures.update({"emails": len(mails), "events": len(unique)})
    return {"counts": dict(sorted(counts.items())), **figures}, troubles


def wrong_decision(row: dict[str, Any], acts: list[dict[str, Any]]) -> list[str]:
    """Return warnings about a status and reason code that no agent has confirmed."""
    decided = [one for one in acts if one["screen"]["to"] in DECIDED]
    # A note may include a decision, too.
    screens = [one["screen"] for one in decided if one["fate"] in ("on its way", "note")]
    last = screens[-1] if screens else None
    decision = (row["ticket_status_id"], row["reason_code"])
    if last and decision != (DECIDED[last["to"]], last["code"]):
        return [f"ticket {row['id']}: {decision}, confirmed was {last['to']} {last['code']}"]
    unsure = any(one["fate"] == "unknown" for one in decided)
    if not last and not unsure and decision[0] in DECIDED.values():
        return [f"ticket {row['id']}: {decision}, which nobody confirmed"]
    return []


def plain(text: str) -> str:
    """Return the written text, without the list of documents below it."""
    return " ".join(text.partition("\nPlease send:")[0].split())
