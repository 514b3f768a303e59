"""Guides in a browser: legible in both themes and on a phone, without a violation for axe."""

from itertools import pairwise

import pytest
from pytest_django.live_server_helper import LiveServer

from tests.browser.chromium import Chromium

PHONE = {"viewport": {"width": 390, "height": 844}, "is_mobile": True, "has_touch": True}
TOO_WIDE = "document.documentElement.scrollWidth - innerWidth"
ONLY_COLOURS = {"runOnly": {"type": "rule", "values": ["color-contrast"]}}


@pytest.mark.slow
def test_guides_are_read_on_a_phone_in_both_themes(
    chromium: Chromium, live_server: LiveServer
) -> None:
    """Open the guide that has every element which the documents use."""
    with chromium.tab(live_server.url, **PHONE) as tab:
        assert tab.visit("/docs/guides/receiving") == 200
        assert tab.do(lambda page: page.evaluate(TOO_WIDE)) <= 0
        assert tab.violations() == []
        tab.theme("dark")
        assert tab.violations(**ONLY_COLOURS) == []
        assert tab.complaints == []


@pytest.mark.slow
def test_a_wide_window_shows_other_guides_text_and_contents_side_by_side(
    chromium: Chromium, live_server: LiveServer
) -> None:
    with chromium.tab(live_server.url, viewport={"width": 1440, "height": 900}) as tab:
        tab.visit("/docs/guides/order")

        boxes = tab.do(
            lambda page: [
                page.locator(name).bounding_box() for name in (".guides", "main", ".contents")
            ]
        )
        for left_box, right_box in pairwise(boxes):
            assert left_box["x"] + left_box["width"] < right_box["x"]
            assert abs(left_box["y"] - right_box["y"]) < 100
