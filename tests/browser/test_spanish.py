"""Spanish words are longer: on the main pages none is cut off, on a desk or on a phone."""

from typing import Any

import pytest
from django.test import Client
from pytest_django.live_server_helper import LiveServer

from desk.models import Preferences
from tests.browser.chromium import Chromium
from tests.browser.test_pages import pages
from tests.browser.world import World

MAIN = ("queue", "ticket", "move", "dashboard", "agent")
SIZES = ((1280, 800), (390, 844))
# Texts that are wider than their boxes, and the page itself.
CUT = """() => {
  const boxes = "button, a.desk-button, th, td, dt, dd, label, legend, h1, h2, summary, "
    + ".desk-pill, .desk-tag, .desk-tile, .desk-clock, #nav-sidebar a, "
    + "#nav-sidebar span, #nav-sidebar .truncate";
  const seen = (one) => one.checkVisibility({ visibilityProperty: true }) && one.clientWidth > 1;
  // Names from outside may be long: those end in an ellipsis, or can be scrolled.
  const others = "bdi, table, input, select";
  const ours = (one) => !one.querySelector(others) && !one.closest("bdi");
  const icon = (one) => one.matches(".material-symbols-outlined");
  const cut = [...document.querySelectorAll(boxes)]
    .filter((one) => seen(one) && ours(one) && !icon(one) && one.scrollWidth > one.clientWidth + 1)
    .map((one) => `${one.tagName}: ${one.innerText.trim().slice(0, 60)}`);
  return document.documentElement.scrollWidth > innerWidth ? [...cut, "the page"] : cut;
}"""


@pytest.mark.slow
def test_nothing_is_cut_off_in_spanish(chromium: Chromium, live_server: LiveServer) -> None:
    world = World(past=1, present=4)
    lead = Client()
    lead.force_login(world.eve.user)
    Preferences.objects.create(user=world.eve.user, language="es", time_zone="America/Mexico_City")
    cut_texts: dict[str, Any] = {}
    with chromium.tab(live_server.url) as tab:
        tab.sign_in(lead)
        for name in MAIN:
            assert tab.visit(pages(world)[name]) == 200
            tab.sees("html[lang=es] #content")
            for width, height in SIZES:
                size = {"width": width, "height": height}
                tab.do(lambda page, size=size: page.set_viewport_size(size))
                cut_texts[f"{name}, {width}"] = tab.do(lambda page: page.evaluate(CUT))
    assert len(cut_texts) == 10
    assert {page: cut for page, cut in cut_texts.items() if cut} == {}
