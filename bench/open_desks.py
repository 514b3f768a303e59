"""Desks that have a ticket open, and a company that writes on the tickets, in one event loop."""

import asyncio
import json
import random
import time
from typing import Any, NamedTuple
from urllib.parse import urlencode

from django.contrib.auth.models import User
from django.test import Client
from django.utils import timezone

from companies import services
from companies.models import Company
from tickets import agents
from tickets.models import Agent, Ticket
from tickets.statuses import Status

ASK_EVERY_SECONDS, AFTER_SECONDS = 2.0, 0.5


class Desk(NamedTuple):
    """Somebody who is signed in and has a ticket open."""

    ticket_id: int
    cookie: str


class World(NamedTuple):
    desks: list[Desk]
    token: str


def make_world(size: int) -> World:
    company = Company.objects.create(name="Acme")
    group, now = agents.group("agent"), timezone.now()
    desks = []
    for number in range(size):
        user = User.objects.create(username=f"agent{number}", is_staff=True)
        user.groups.add(group)
        agent = Agent.objects.create(user=user)
        ticket = Ticket.objects.create(
            company=company,
            type_id=2,
            agent=agent,
            status=Status.PENDING,
            created_at=now,
            updated_at=now,
        )
        client = Client()
        client.force_login(user)
        desks.append(Desk(ticket.pk, client.cookies["sessionid"].value))
    return World(desks, services.issue_token(company.pk))


class Connection:
    """A kept connection, as a browser has it."""

    def __init__(self, port: int, headers: str) -> None:
        self.port = port
        self.headers = headers
        self.pair: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None

    async def ask(self, line: str, body: bytes = b"") -> bytes:
        """The body of an answer. Raises RuntimeError when it is no success."""
        if self.pair is None:
            self.pair = await asyncio.open_connection("127.0.0.1", self.port)
        reader, writer = self.pair
        about = f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n" if body else ""
        head = f"{line} HTTP/1.1\r\nHost: 127.0.0.1\r\n{self.headers}\r\n{about}\r\n"
        writer.write(head.encode() + body)
        answer = await reader.readuntil(b"\r\n\r\n")
        if answer[9:10] != b"2":
            raise RuntimeError(f"{line}: {answer.decode()}")
        length = int(answer.lower().partition(b"content-length:")[2].partition(b"\r\n")[0])
        return await reader.readexactly(length)

    def close(self) -> None:
        if self.pair is not None:
            self.pair[1].close()


class Office:
    """All desks at once, for some seconds; `seconds` is how long each comment took to be seen."""

    def __init__(
        self, world: World, port: int, stream_port: int | None = None, *, patient: bool = False
    ) -> None:
        self.patient = patient
        self.world = world
        self.port = port
        self.stream_port = stream_port
        self.written: dict[int, float] = {}
        self.seconds: list[float] = []
        self.asked = 0

    async def work(self, lasting: float, comments_per_second: float) -> None:
        """Raises what went wrong at any of them."""
        tasks = [asyncio.create_task(self.sit(desk)) for desk in self.world.desks]
        writer = asyncio.create_task(self.write(comments_per_second))
        done, _ = await asyncio.wait(
            [*tasks, writer], timeout=lasting, return_when=asyncio.FIRST_EXCEPTION
        )
        for task in (*tasks, writer):
            task.cancel()
        await asyncio.gather(*tasks, writer, return_exceptions=True)
        for task in done:
            task.result()

    async def write(self, per_second: float) -> None:
        """The company writes on one ticket after another, none of them twice at a time."""
        if not per_second:
            await asyncio.sleep(3600)
        line = f"Authorization: Bearer {self.world.token}"
        company, chance = Connection(self.port, line), random.Random(1)  # noqa: S311 - no secret
        while True:
            began = time.perf_counter()
            ticket = chance.choice(self.world.desks).ticket_id
            if ticket not in self.written:
                self.written[ticket] = began
                body = json.dumps({"comment": f"It is {began}."}).encode()
                await company.ask(f"POST /company/tickets/{ticket}/comments", body)
            await asyncio.sleep(max(0.0, 1 / per_second - (time.perf_counter() - began)))

    async def sit(self, desk: Desk) -> None:
        browser = Connection(self.port, f"Cookie: sessionid={desk.cookie}")
        try:
            if self.stream_port is None:
                await self.ask_for_news(desk, browser)
            else:
                await self.hear_news(desk, browser, self.stream_port)
        finally:
            browser.close()

    async def ask_for_news(self, desk: Desk, browser: Connection) -> None:
        """As live.js does: it waits for the answer, or asks every two seconds."""
        await asyncio.sleep(random.random() * ASK_EVERY_SECONDS)  # noqa: S311 - no secret
        had: dict[str, Any] = {"since": 0.0, "ticket": desk.ticket_id, "wait": int(self.patient)}
        known: list[str] = []
        while True:
            asked = urlencode({**had, "known": ",".join(known[-50:])})
            news: dict[str, Any] = json.loads(await browser.ask(f"GET /admin/live/?{asked}"))
            self.asked += 1
            had |= {"since": news["now"], "notified": news["notified"], "counted": news["counted"]}
            known += [*news.get("changed", []), *news.get("mine", [])]
            if news.get("stale") or news.get("changed"):
                await self.look(desk, browser)
            waits = self.patient and news["waits"]
            await asyncio.sleep(AFTER_SECONDS if waits else ASK_EVERY_SECONDS)

    async def hear_news(self, desk: Desk, browser: Connection, port: int) -> None:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(f"GET /stream?ticket={desk.ticket_id} HTTP/1.1\r\n\r\n".encode())
        try:
            while line := await reader.readline():
                if line.startswith(b"data:"):
                    await self.look(desk, browser)
        finally:
            writer.close()

    async def look(self, desk: Desk, browser: Connection) -> None:
        """The page is fetched, and the comment is on it."""
        page = await browser.ask(f"GET /admin/tickets/ticket/{desk.ticket_id}/change/")
        began = self.written.get(desk.ticket_id)
        if began is not None and f"It is {began}.".encode() in page:
            self.seconds.append(time.perf_counter() - began)
            del self.written[desk.ticket_id]
