"""Incidents caused by others: a full disk, answers that crash the worker, a flood of requests."""

import contextlib
import subprocess
import threading
from collections import Counter
from collections.abc import Iterator

import requests

from companies.models import Company
from companies.services import create_company, issue_token
from tickets.models import Ticket
from tools.faults import full_disk
from tools.faults.crash_loop import DEADLY, DeadlyReceiver
from tools.faults.feeding import publish_numbered
from tools.faults.incidents.following import Page
from tools.faults.incidents.plays import (
    LONGEST_REST_SECONDS,
    MENDED_WITHIN_SECONDS,
    Scene,
    expect,
    well,
)
from tools.faults.ports import free_port
from tools.faults.probing import address
from tools.faults.receiver import Answer, Receiver
from tools.faults.scenarios import until
from webhooks import services

FLOODERS = 24


def keep_answer(opened: list[requests.Response], scene: Scene) -> bool:
    """Open a ticket, which may still fit into existing pages; return True if it is stored."""
    opened.append(scene.open_ticket())
    return opened[-1].ok


def database_disk_full(scene: Scene, page: Page) -> Iterator[None]:
    """Fill PostgreSQL's disk to the last byte."""
    expect(scene.open_ticket().ok)
    with full_disk.small_disk(scene.rig):
        until(scene.is_ready, MENDED_WITHIN_SECONDS)
        with full_disk.disk_is_full(scene.rig):
            opened: list[requests.Response] = []
            until(lambda: not keep_answer(opened, scene), MENDED_WITHIN_SECONDS)
            expect(opened[-1].status_code == 503, opened[-1].text)
            yield
            output = page.manage("doctor", fails=True)
            expect("No space left" in output, output)
            page.note("df -h: made room")
        until(lambda: keep_answer(opened, scene), MENDED_WITHIN_SECONDS)
        ids = [each.json()["id"] for each in opened if each.ok]
        expect(Ticket.objects.filter(pk__in=ids).count() == len(ids), "tickets are lost")
        scene.tell(20)
        until(scene.all_arrived, MENDED_WITHIN_SECONDS)
        until(lambda: well(scene, "disk", "database_disk", "database"), MENDED_WITHIN_SECONDS)


def crash_loop(scene: Scene, page: Page) -> Iterator[None]:
    """Crash the worker by the answers of one receiver, and restart it each time."""
    company = create_company("Hemlock")
    with Receiver(listen=("127.0.3.1", free_port())) as receiver:
        url = f"http://127.0.3.1:{receiver.port}"
        deadly = services.register_webhook(company, type_id=3, url=f"{url}{DEADLY}")
        services.register_webhook(company, type_id=3, url=f"{scene.rig.receiver.url}/hemlock")
        DeadlyReceiver(scene.rig.service, receiver)
        publish_numbered(company, range(20))
        scene.tell(20)
        yield
        page.manage("doctor", "--only", "engine_loops", "failed_rows", fails=True)
        output = page.manage("queue", "--by", "webhook")
        expect("set aside" in output, output)
        page.manage("hold_host", "127.0.3.1", "--reason", "ends our worker")
        page.note("mended the cause")
        receiver.answer = lambda received: Answer()
        page.manage("release_host", "127.0.3.1")
        page.note("resumed the webhook at the desk")
        services.resume(deadly.pk)
        chosen = ("--webhook", str(deadly.pk), "--since", "24h", "--state", "given_up")
        page.manage("redeliver", *chosen, "--dry-run")
        page.manage("redeliver", *chosen)
        until(scene.all_arrived, LONGEST_REST_SECONDS)
        got = {each.body for each in receiver.log}
        expect(len(got) == 20, f"its receiver got {len(got)} of 20")
        until(lambda: well(scene, "failed_rows", "engine_loops"), MENDED_WITHIN_SECONDS)


def keep_flooding(
    scene: Scene, company: Company, over: threading.Event, answers: Counter[int]
) -> None:
    """Send test events and list requests until `over`, regardless of the answers."""
    token = issue_token(company.pk)
    body = {"tracking_number": "T1", "webhook_url": f"{scene.rig.receiver.url}/juniper"}
    with requests.Session() as session:
        session.headers["Authorization"] = f"Bearer {token}"
        while not over.is_set():
            with contextlib.suppress(requests.RequestException):
                url = address(scene.rig.service, "/ship/webhooktest/")
                answers[session.post(url, json=body, timeout=60).status_code] += 1
                url = address(scene.rig.service, "/company/tickets?limit=100")
                answers[session.get(url, timeout=60).status_code] += 1


def caller_floods(scene: Scene, page: Page) -> Iterator[None]:
    """Let a company's program send requests without a pause, regardless of the answers."""
    service = scene.rig.service
    company = create_company("Juniper")
    service.environment["LOG_LEVEL"] = "INFO"
    scene.restart("web")
    over, answers = threading.Event(), Counter[int]()
    flooders = [
        threading.Thread(target=keep_flooding, args=(scene, company, over, answers), daemon=True)
        for _ in range(FLOODERS)
    ]
    for each in flooders:
        each.start()
    try:
        yield
        others = Counter(scene.ask("/company/tickets") for _ in range(20))
        expect(others == {200: 20}, f"others were answered {dict(others)}")
        look = next(line for line in page.commands if line.startswith("journalctl"))
        output = subprocess.check_output(
            ["bash", "-c", f"cat {service.logs}/web.log |{look.partition('|')[2]}"], text=True
        )
        page.note(f"access log: {output.splitlines()[0].strip()}")
        expect(f"company {company.pk}, " in output.splitlines()[0], output)
        page.manage("list_tokens", "--company", str(company.pk))
        page.manage("revoke_token", "--company", str(company.pk))
        page.note(f"what it was answered: {dict(answers)}")
    finally:
        over.set()
        for each in flooders:
            each.join()
        service.environment["LOG_LEVEL"] = "WARNING"
    scene.restart("web")
