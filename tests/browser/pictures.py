"""Makes the pictures of docs/desk.md again: ./dev test tests/browser/pictures.py

Not one of the tests: it writes docs/pictures/desk/, each page wide and on a phone, light and dark.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from django.core.cache import cache
from django.test import Client
from pytest_django.live_server_helper import LiveServer

from desk.ticket import visits
from tests.browser.chromium import Chromium, Tab
from tests.browser.world import World
from tickets.models import Agent

FOLDER = Path(__file__).resolve().parents[2] / "docs" / "pictures" / "desk"
LIST = "/admin/tickets/ticket/"
WIDE = {"viewport": {"width": 1440, "height": 900}}
PHONE = {"viewport": {"width": 390, "height": 844}, "is_mobile": True, "has_touch": True}


class Scene(NamedTuple):
    name: str
    who: Agent
    address: str
    keys: str = ""
    until: str = "#content, main"


def scenes(world: World) -> Iterator[Scene]:
    claim = f"{LIST}{world.claim.pk}/change/"
    yield Scene("queue", world.ada, f"{LIST}?queue=mine", until="tr.data-row")
    yield Scene("ticket", world.ada, claim)
    yield Scene("move", world.ada, claim, "i", "#move-incomplete")
    yield Scene("dashboard", world.eve, "/admin/")
    yield Scene("webhook", world.ada, f"/admin/webhooks/webhook/{world.sick.pk}/change/")


def take(tab: Tab, scene: Scene, world: World, file: Path) -> None:
    client = Client()
    client.force_login(scene.who.user)
    tab.sign_in(client)
    visits.record_visit(world.claim.pk, world.ben.user, writing=True)
    assert tab.visit(scene.address) == 200
    tab.press(*scene.keys)
    tab.sees(scene.until)
    tab.picture(file)


def test_take_the_pictures(chromium: Chromium, live_server: LiveServer) -> None:
    # What another test had counted would be shown.
    cache.clear()
    world = World(past=90, present=34)
    FOLDER.mkdir(parents=True, exist_ok=True)
    for size, options in (("wide", WIDE), ("phone", PHONE)):
        for theme in ("light", "dark"):
            looks = {**options, "color_scheme": theme, "reduced_motion": "reduce"}
            with chromium.tab(live_server.url, **looks) as tab:
                for scene in scenes(world):
                    take(tab, scene, world, FOLDER / f"{scene.name}-{size}-{theme}.png")
                assert tab.complaints == []
    assert len(list(FOLDER.glob("*.png"))) == 20
