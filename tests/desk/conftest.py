import pytest
from django.contrib.auth.models import User
from django.core.cache import cache
from django.test import Client

from tickets.models import Agent


@pytest.fixture
def desk(agent: Agent) -> Client:
    """The browser in which Ada has signed in."""
    client = Client()
    client.force_login(agent.user)
    return client


@pytest.fixture
def operator(db: None) -> Client:
    """The browser of somebody who may do everything."""
    client = Client()
    client.force_login(User.objects.create_superuser("root"))
    return client


@pytest.fixture(autouse=True)
def own_cache(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is cached before a test, and nothing expires in it, however busy the machine is."""
    cache.clear()
    keep = cache.set
    monkeypatch.setattr(cache, "set", lambda key, value, timeout: keep(key, value, None))
