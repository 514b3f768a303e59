"""Retakes the pictures of docs/desk.md by `./dev test tests/browser/pictures.py`.

This is not one of the tests: it writes twenty pictures to docs/pictures/desk/, to be looked at one
by one. They cover every main page, both languages, light and dark, and four widths of a window.
"""

import hashlib
import io
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path
from typing import NamedTuple

from django.core.cache import cache
from django.test import Client
from PIL import Image, ImageDraw
from pytest_django.live_server_helper import LiveServer

from core.files import storage
from desk.models import Preferences
from desk.people.language import save_preferences
from desk.ticket import visits
from tests import builders as build
from tests import files
from tests.browser.chromium import Chromium, Tab
from tests.browser.world import World
from tickets.models import Agent, ReasonCode, Ticket
from tickets.statuses import Status

FOLDER = Path(__file__).resolve().parents[2] / "docs" / "pictures" / "desk"
LIST = "/admin/tickets/ticket/"
HEIGHTS = {390: 844, 1280: 800, 1440: 900, 1920: 1080}


class Scene(NamedTuple):
    """A page in one language, theme and width; `keys` are pressed before the picture."""

    name: str
    width: int
    language: str
    theme: str
    who: Agent
    address: str
    keys: str = ""
    until: str = "#content, main"
    before: str = ""

    @property
    def file(self) -> str:
        return f"{self.name}-{self.width}-{self.language}-{self.theme}.png"


def scenes(world: World) -> Iterator[Scene]:
    ada, eve = world.ada, world.eve
    mine, claim = f"{LIST}?queue=mine", f"{LIST}{world.claim.pk}/change/?list=queue%3Dmine"
    # The viewer gives its canvas a width once the file is drawn.
    rows, thread, canvas = "tr.data-row", "#ticket", '#viewer-canvas[style*="width"]'
    reports, first = "/admin/reports/", "/admin/first-run/"
    yield Scene("queue", 1440, "en", "light", ada, mine, until=rows)
    yield Scene("queue", 1280, "es", "dark", ada, mine, until=rows)
    yield Scene("queue", 390, "en", "light", ada, mine, until=rows)
    yield Scene("workbench", 1440, "en", "light", ada, claim, until=".desk-beside")
    yield Scene("workbench", 1920, "es", "light", ada, claim, until=".desk-beside")
    yield Scene("workbench", 1920, "en", "dark", ada, claim, until=".desk-beside")
    yield Scene("ticket", 1280, "es", "light", ada, claim, until=thread)
    yield Scene("ticket", 1280, "en", "dark", ada, claim, until=thread)
    yield Scene("ticket", 390, "en", "dark", ada, claim, until=thread)
    yield Scene("ticket", 390, "es", "light", ada, claim, until=thread)
    yield Scene("move", 1440, "en", "light", ada, claim, "i", "#move-incomplete")
    yield Scene("claim", 1280, "en", "light", eve, f"{LIST}?queue=to-file", until=rows)
    yield Scene(
        "claim", 1440, "es", "dark", eve, claim, until="#claimed-claim", before="#edit-amounts"
    )
    yield Scene("viewer", 1440, "en", "light", ada, claim, until=canvas, before="a[data-view]")
    yield Scene("viewer", 390, "es", "dark", ada, claim, until=canvas, before="a[data-view]")
    yield Scene("reports", 1440, "en", "light", eve, reports)
    yield Scene("reports", 1920, "es", "dark", eve, reports)
    yield Scene("first-run", 1280, "es", "light", eve, first)
    yield Scene("webhook", 1440, "en", "light", ada, webhook_page(world))
    yield Scene("overview", 1440, "en", "light", eve, "/admin/")


def webhook_page(world: World) -> str:
    return f"/admin/webhooks/webhook/{world.sick.pk}/change/"


def furnish(world: World) -> None:
    """Add amounts and files, as material for a claim and a report."""
    claim = world.claim
    money = {"currency": "MXN", "amount_claimed": Decimal("2480.50")}
    Ticket.objects.filter(pk=claim.pk).update(**money, amount_offered=Decimal(1200))
    decided = Ticket.objects.filter(status__in=(Status.ACCEPTED, Status.DECLINED)).order_by("pk")
    codes = list(ReasonCode.objects.filter(for_declined=True).values_list("code", flat=True))
    for number, ticket in enumerate(decided):
        claimed = Decimal(400 + 137 * number % 3100)
        paid = claimed * (10 - number % 4) / 10 if ticket.status == Status.ACCEPTED else None
        Ticket.objects.filter(pk=ticket.pk).update(
            currency="MXN",
            amount_claimed=claimed,
            amount_offered=paid,
            amount_paid=paid,
            reason_code="" if paid else codes[number % 5],
        )
    for ticket in Ticket.objects.open().filter(type_id__in=(4, 5, 13)).exclude(pk=claim.pk):
        worth = Decimal(90 + ticket.pk * 211 % 9000)
        Ticket.objects.filter(pk=ticket.pk).update(currency="MXN", amount_claimed=worth)
    context = (
        ("box.jpg", crushed_box(), "image/jpeg"),
        ("invoice.pdf", files.pdf(2), "application/pdf"),
    )
    for name, content, media_type in context:
        build.file(
            claim.company,
            ticket=claim,
            name=name,
            media_type=media_type,
            size=len(content),
            sha256=hashlib.sha256(content).hexdigest(),
            stored_as=storage.write_file(storage.new_file_name(), content),
        )


def crushed_box() -> bytes:
    image = Image.new("RGB", (1200, 800), "#d8d2c8")
    draw = ImageDraw.Draw(image)
    draw.polygon([(260, 250), (900, 190), (980, 620), (310, 680)], fill="#b58a56")
    draw.polygon([(260, 250), (900, 190), (760, 330), (400, 360)], fill="#9c7343")
    draw.line([(585, 220), (640, 650)], fill="#e8dcc0", width=34)
    buffer = io.BytesIO()
    image.save(buffer, "JPEG")
    return buffer.getvalue()


def take(tab: Tab, scene: Scene, world: World) -> None:
    save_preferences(Preferences(user=scene.who.user, language=scene.language))
    client = Client()
    client.force_login(scene.who.user)
    tab.sign_in(client)
    visits.record_visit(world.claim.pk, world.ben.user, writing=True)
    assert tab.visit(scene.address) == 200
    if scene.before:
        tab.do(lambda page: page.locator(scene.before).first.click())
    tab.press(*scene.keys)
    tab.sees(scene.until)
    tab.picture(FOLDER / scene.file)


def test_take_the_pictures(chromium: Chromium, live_server: LiveServer) -> None:
    # Clear figures that another test has counted: they would be shown.
    cache.clear()
    world = World(past=90, present=34)
    furnish(world)
    FOLDER.mkdir(parents=True, exist_ok=True)
    all_scenes = list(scenes(world))
    for scene in all_scenes:
        phone = {"is_mobile": True, "has_touch": True} if scene.width == 390 else {}
        size = {"width": scene.width, "height": HEIGHTS[scene.width]}
        looks = {"color_scheme": scene.theme, "reduced_motion": "reduce"}
        with chromium.tab(live_server.url, viewport=size, **looks, **phone) as tab:
            take(tab, scene, world)
            assert tab.complaints == []
    assert {one.name for one in FOLDER.glob("*.png")} == {scene.file for scene in all_scenes}
    assert len(all_scenes) == 20
