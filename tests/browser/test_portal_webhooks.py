"""Webhooks on the company's page in a browser: legible on a phone, nothing that axe finds."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from pytest_django import Settings
from pytest_django.live_server_helper import LiveServer

from companies.tokens import token_digest
from deliveries import redelivery
from deliveries.models import Delivery
from portal import access
from tests import builders as build
from tests.browser.chromium import Chromium
from tests.deliveries import worlds
from tests.sending import deliver
from tickets.statuses import Status
from tools.faults.receiver import Answer, Receiver
from webhooks.targets import Policy

PHONE = {"width": 390, "height": 844}
SCREEN = {"width": 1280, "height": 800}
TOO_WIDE = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
TOP = "document.querySelector('#test .notice').getBoundingClientRect().top"
# Links in sentences are exempt; everything else must suit a thumb.
SMALL = """[...document.querySelectorAll('main a, main button, main input, main select, summary')]
  .filter(one => one.type !== 'hidden' && one.getBoundingClientRect().height < 44)
  .map(one => one.outerHTML.slice(0, 80))"""


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    with Receiver() as receiver:
        receiver.answer = lambda received: Answer(401, body=b"bad signature")
        yield receiver


def test_open_pages_show_what_arrives(
    chromium: Chromium,
    live_server: LiveServer,
    settings: Settings,
    receiver: Receiver,
    loopback: Policy,
) -> None:
    settings.PUBLIC_URL = live_server.url
    world = worlds.make_world(receiver)
    token = world.acme.tokens.create(prefix="test_page", digest=token_digest("page"))
    secret, _ = access.issue_session(world.acme, token, language="en")
    webhook = world.webhooks[0]
    with chromium.tab(live_server.url) as tab:
        tab.visit(f"/c/s/{secret}")
        tab.visit(f"/c/webhooks/{webhook.pk}")
        tab.sees("#state", "No deliveries yet")
        tab.do(lambda page: page.fill("#url", "https://half.typed"))

        world.publish(1)
        deliver(loopback)

        tab.sees("#state", "Failing")
        tab.sees("#deliveries", "Waiting")
        tab.sees("#news", "This page has just changed.")
        assert tab.value("#url") == "https://half.typed"
        delivery = Delivery.objects.get(webhook=webhook)
        tab.visit(f"/c/deliveries/{delivery.pk}")
        receiver.answer = lambda received: Answer(200)
        redelivery.ask_again(delivery.pk)
        deliver(loopback)
        tab.sees("#head", "Delivered")
        tab.sees("#attempts", "2:")
        tab.visit("/c/tickets?show=open")
        tab.sees("#list", "There are no open tickets.")
        ticket = build.ticket(world.acme, status=Status.IN_REVIEW)
        tab.sees("#list", str(ticket.pk))
    assert tab.complaints == []


@pytest.mark.slow
@pytest.mark.parametrize(("size", "language"), [(PHONE, "es"), (SCREEN, "en")])
def test_every_page_is_legible(
    chromium: Chromium,
    live_server: LiveServer,
    settings: Settings,
    receiver: Receiver,
    loopback: Policy,
    size: dict[str, int],
    language: str,
) -> None:
    settings.COMPANY_PAGE, settings.PUBLIC_URL = True, live_server.url
    world = worlds.make_world(receiver)
    world.publish(*range(30))
    deliver(loopback)
    webhook = world.webhooks[0]
    delivery = Delivery.objects.filter(webhook=webhook).exclude(attempts=0).first()
    token = world.acme.tokens.create(prefix="test_page", digest=token_digest("page"))
    parts = {"tickets": True, "webhooks": True, "ticket_id": None, "return_url": ""}
    secret, _ = access.issue_session(world.acme, token, language=language, **parts)

    found = {}
    with chromium.tab(live_server.url, viewport=size) as tab:
        assert tab.visit(f"/c/s/{secret}") == 200

        def look(name: str) -> None:
            wide = tab.do(lambda page: page.evaluate(TOO_WIDE))
            small = tab.do(lambda page: page.evaluate(SMALL))
            found[name] = [*tab.violations(), *([wide] if wide else []), *small]
            if folder := os.environ.get("PICTURES"):
                tab.chromium.do(
                    tab.page.screenshot,
                    path=Path(folder) / f"{name}-{size['width']}-{language}.png",
                    full_page=True,
                )

        for name, address in {
            "list": "/c/webhooks",
            "webhook": f"/c/webhooks/{webhook.pk}",
            "secret": f"/c/webhooks/{webhook.pk}/secret",
            "delivery": f"/c/deliveries/{delivery.pk}",
        }.items():
            assert tab.visit(address) == 200
            look(name)
        tab.visit(f"/c/webhooks/{webhook.pk}")
        tab.do(lambda page: page.click("button[value=test]"))
        tab.sees("#test .notice")
        top = tab.do(lambda page: page.evaluate(TOP))
        assert 0 <= top < size["height"], "the result is on the screen"
        look("tested")
        tab.visit(f"/c/webhooks/{webhook.pk}/secret")
        tab.do(lambda page: page.click("main button[type=submit]"))
        tab.sees("#own")
        look("rotated")
    assert (found, tab.complaints) == ({name: [] for name in found}, [])
