"""Measures the Spanish desk by `./dev test tests/browser/readings.py -s`.

This is not one of the tests. It prints what axe finds on 28 pages at two widths, what five main
pages weigh and how long the server takes for them, and writes pictures of twelve to PICTURES, or to
a new folder.
"""

import os
import statistics
import tempfile
from pathlib import Path
from typing import Any

from django.test import Client
from pytest_django.live_server_helper import LiveServer

from desk.models import Preferences
from tests.browser.chromium import Chromium, Tab
from tests.browser.pictures import furnish
from tests.browser.test_pages import LIST, LOADED, TOO_WIDE, pages
from tests.browser.test_spanish import CUT
from tests.browser.world import World

SIZES = ((1280, 800), (390, 844))
MAIN = ("dashboard", "mine", "queue", "ticket", "reports")
LOOKED_AT = {*MAIN, "move", "hand over", "new ticket", "first run", "company", "agent"}
LOOKED_AT |= {"automations"}
FURTHER = {
    "mine": f"{LIST}?queue=mine",
    "overdue": f"{LIST}?queue=overdue",
    "new ticket": f"{LIST}new/",
    "first run": "/admin/first-run/",
    "add agents": "/admin/agents/add/",
    "preferences": "/admin/preferences/",
    "automations": "/admin/automations/",
    "notifications": "/admin/notifications/",
    "sessions": "/admin/sessions/",
    "palette": "/admin/palette/",
}
SERVER_MS = """(() => { const [page] = performance.getEntriesByType("navigation");
  return page.responseStart - page.requestStart })()"""


def addresses(world: World) -> dict[str, str]:
    hand_over = {"hand over": f"{LIST}{world.claim.pk}/hand-over/"}
    return pages(world) | FURTHER | hand_over


def look(tab: Tab, name: str, folder: Path) -> dict[str, Any]:
    """Resize the page to both widths; return the problems at each."""
    problems: dict[str, Any] = {}
    for width, height in SIZES:
        size = {"width": width, "height": height}
        tab.do(lambda page, size=size: page.set_viewport_size(size))
        wrong = [*tab.violations(), *tab.do(lambda page: page.evaluate(CUT))]
        if tab.do(lambda page: page.evaluate(TOO_WIDE)) > 0:
            wrong.append("wider than the window")
        if wrong:
            problems[f"{name}, {width}"] = wrong
        if name in LOOKED_AT:
            tab.picture(folder / f"{name.replace(' ', '-')}-{width}.png")
    return problems


def weigh(tab: Tab, address: str, warm: int = 7) -> tuple[float, int, float]:
    """Return kB and requests of a first visit, and the server's milliseconds for later ones."""
    tab.visit(address)
    files = tab.do(lambda page: page.evaluate(LOADED))
    times = []
    for _ in range(warm):
        tab.visit(address)
        times.append(tab.do(lambda page: page.evaluate(SERVER_MS)))
    return sum(size for _, size in files) / 1024, len(files), statistics.median(times)


def test_read_the_desk(chromium: Chromium, live_server: LiveServer) -> None:
    folder = Path(os.environ.get("PICTURES") or tempfile.mkdtemp(prefix="desk-pictures-"))
    folder.mkdir(parents=True, exist_ok=True)
    world, lead = World(past=30, present=20), Client()
    furnish(world)
    lead.force_login(world.eve.user)
    Preferences.objects.create(user=world.eve.user, language="es", time_zone="America/Mexico_City")
    findings: dict[str, Any] = {}
    with chromium.tab(live_server.url) as tab:
        tab.sign_in(lead)
        for name, address in addresses(world).items():
            assert tab.visit(address) == 200, name
            findings |= look(tab, name, folder)
    for name in MAIN:
        with chromium.tab(live_server.url) as tab:
            tab.sign_in(lead)
            weight = weigh(tab, addresses(world)[name])
            print("{}: {:.0f} kB, {} requests, {:.0f} ms".format(name, *weight))
    print(f"axe on {len(addresses(world))} pages at {len(SIZES)} widths; pictures in {folder}")
    for place, wrong in findings.items():
        print(place, *wrong, sep="\n  ")
    assert findings == {}
