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
    """A browser's window on the running service. It may have nothing to complain of."""
    with chromium.tab(live_server.url) as opened:
        yield opened
    assert opened.complaints == []


@pytest.fixture
def desk(ada: Agent) -> Client:
    """The client whose session a tab can take over."""
    client = Client()
    client.force_login(ada.user)
    return client
