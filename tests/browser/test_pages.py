"""The desk's pages are accessible: no violation that axe finds, and room enough on a phone."""

import re
from collections.abc import Iterator

import pytest
from django.test import Client
from pytest_django.live_server_helper import LiveServer

from desk.models import Macro, Storm
from tests.browser.chromium import Chromium, Tab
from tests.browser.world import World

LIST = "/admin/tickets/ticket/"
THEMES = ("light", "dark")
PHONE = {"width": 390, "height": 844}
# The dark theme differs in colours alone.
ONLY_COLOURS = {"runOnly": {"type": "rule", "values": ["color-contrast"]}}
# Width of a screen of 1,280 pixels at 200 % zoom.
ENLARGED = {"width": 640, "height": 400}
TOO_WIDE = "document.documentElement.scrollWidth - document.documentElement.clientWidth"

# Limits for a first visit to a page: bytes as sent, and requests.
MOST_KB, MOST_REQUESTS = 400, 20
LOADED = """["navigation", "resource"].flatMap(kind => performance.getEntriesByType(kind))
  .filter(one => !one.name.endsWith("/presence/") && !one.name.includes("/admin/live/"))
  .map(one => [new URL(one.name).pathname, one.encodedBodySize])"""
FOR_CHARTS = re.compile("chart|plot|d3|highcharts|xregexp|select2")
# Icons that the font lacks are shown as words: tools/dev/fonts.md.
MISSING_ICONS = """[...document.querySelectorAll(".material-symbols-outlined")].filter(icon =>
  icon.checkVisibility() && icon.clientWidth > 1.5 * parseFloat(getComputedStyle(icon).fontSize)
  ).map(icon => icon.textContent.trim())"""

RIGHTMOST = """Math.max(...[...document.querySelectorAll(".desk-scroll td")].map(
  cell => cell.getBoundingClientRect().right))"""


def pages(world: World) -> dict[str, str]:
    return {
        "queue": f"{LIST}?queue=open",
        "ticket": f"{LIST}{world.claim.pk}/change/",
        "move": f"{LIST}move/4/?ticket={world.claim.pk}",
        "dashboard": "/admin/",
        "webhook health": f"/admin/webhooks/webhook/{world.sick.pk}/change/",
        "company": f"/admin/companies/company/{world.claim.company_id}/change/",
        "sick webhooks": "/admin/webhooks/webhook/sick/",
        "missing events": f"{LIST}events/?shipment_id={world.claim.shipment_id}",
        "storm": f"/admin/desk/storm/{Storm.objects.get().pk}/change/",
        "agents": "/admin/tickets/agent/",
        "agent": f"/admin/tickets/agent/{world.ada.pk}/change/",
        "macro": f"/admin/desk/macro/{Macro.objects.first().pk}/change/",
        "targets": "/admin/tickets/slatarget/",
        "calendar": "/admin/tickets/calendar/add/",
        "fairness": "/admin/figures/fairness/",
        "reports": "/admin/reports/",
        "assign": f"{LIST}give/?ticket={world.claim.pk}",
    }


def tour(tab: Tab, world: World) -> Iterator[str]:
    """Open each page as a lead, the login first; yield the pages' names."""
    assert tab.visit("/admin/login/") == 200
    yield "login"
    lead = Client()
    lead.force_login(world.eve.user)
    tab.sign_in(lead)
    for name, address in pages(world).items():
        assert tab.visit(address) == 200
        yield name
        if name == "queue":
            tab.do(lambda page: page.locator(".action-select").first.check())
            tab.sees("#changelist-actions", "1 of")
            yield "ticked"
        if name == "ticket":
            tab.press("i")
            tab.sees("#move-incomplete")
            yield "dialog"


@pytest.mark.slow
def test_axe_finds_no_violation_of_level_a_or_aa_and_no_page_is_heavy(tab: Tab) -> None:
    violations, loaded, missing = {}, {}, {}
    for page in tour(tab, World()):
        loaded[page] = tab.do(lambda page: page.evaluate(LOADED))
        missing[page] = tab.do(lambda page: page.evaluate(MISSING_ICONS))
        violations[page] = tab.violations()

    assert len(violations) == 20
    assert {page: lines for page, lines in violations.items() if lines} == {}
    assert {page: names for page, names in missing.items() if names} == {}
    for page, files in loaded.items():
        assert 100 < sum(size for _, size in files) / 1024 <= MOST_KB, (page, files)
        assert 3 < len(files) <= MOST_REQUESTS, (page, files)
        assert not [path for path, _ in files if FOR_CHARTS.search(path)], page


@pytest.mark.slow
def test_axe_finds_contrast_enough_in_the_dark(tab: Tab) -> None:
    tab.theme("dark")
    violations = {page: tab.violations(**ONLY_COLOURS) for page in tour(tab, World())}

    assert len(violations) == 20
    assert {page: lines for page, lines in violations.items() if lines} == {}


@pytest.mark.slow
def test_nothing_is_wider_than_a_phone_or_than_a_screen_at_200_percent(
    chromium: Chromium, live_server: LiveServer
) -> None:
    world, wide = World(), {}
    with chromium.tab(live_server.url, viewport=PHONE, is_mobile=True, has_touch=True) as tab:
        for name in tour(tab, world):
            for size in (ENLARGED, PHONE):
                tab.do(lambda page, size=size: page.set_viewport_size(size))
                wide[name, size["width"]] = tab.do(lambda page: page.evaluate(TOO_WIDE))

    assert {place: pixels for place, pixels in wide.items() if pixels > 0} == {}


@pytest.mark.slow
def test_no_cell_of_a_delivery_is_out_of_sight_on_a_phone(
    chromium: Chromium, live_server: LiveServer
) -> None:
    world = World(past=0, present=1)
    agent = Client()
    agent.force_login(world.ada.user)
    with chromium.tab(live_server.url, viewport=PHONE, is_mobile=True, has_touch=True) as tab:
        tab.sign_in(agent)
        for name in ("sick webhooks", "missing events", "webhook health"):
            tab.visit(pages(world)[name])
            tab.sees(".desk-scroll td")
            assert tab.do(lambda page: page.evaluate(RIGHTMOST)) <= PHONE["width"]


def test_a_page_is_as_dark_as_the_system_of_whoever_opens_it(tab: Tab) -> None:
    for theme, sign in (("dark", "html.dark"), ("light", "html:not(.dark)")):
        tab.theme(theme)
        assert tab.visit("/admin/login/") == 200
        tab.sees(sign)


@pytest.mark.slow
def test_a_refusal_has_no_violation_either(tab: Tab) -> None:
    lead = Client()
    lead.force_login(World(present=0).eve.user)
    tab.sign_in(lead)
    for theme in THEMES:
        tab.theme(theme)
        assert tab.visit("/admin/nothing/") == 404
        tab.sees("h1", "Page not found")
        assert tab.violations() == []
        assert "404" in tab.complaints.pop()
