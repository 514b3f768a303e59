from collections.abc import Iterator

import pytest
from django.test import Client
from pytest_django.live_server_helper import LiveServer

from tests.browser.chromium import Chromium, Tab
from tests.programs import program
from tickets.models import Agent


@pytest.fixture(scope="session")
def chromium() -> Iterator[Chromium]:
    browser = Chromium(program("chromium"))
    yield browser
    browser.stop()


@pytest.fixture
def tab(chromium: Chromium, live_server: LiveServer) -> Iterator[Tab]:
    """Open a window on the running service; fail if the browser complained of anything."""
    with chromium.tab(live_server.url) as opened:
        yield opened
    assert opened.complaints == []


@pytest.fixture
def desk(ada: Agent) -> Client:
    """Return the client whose session a tab can take over."""
    client = Client()
    client.force_login(ada.user)
    return client
