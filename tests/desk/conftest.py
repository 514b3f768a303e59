import pytest
from django.contrib.auth.models import User
from django.core.cache import cache
from django.template import engines
from django.test import Client

from tests.desk.template_names import NoSuchName
from tickets.models import Agent


@pytest.fixture
def desk(agent: Agent) -> Client:
    """Return a browser in which Ada has signed in."""
    client = Client()
    client.force_login(agent.user)
    return client


@pytest.fixture
def operator(db: None) -> Client:
    """Return the browser of a superuser."""
    client = Client()
    client.force_login(User.objects.create_superuser("root"))
    return client


@pytest.fixture(autouse=True)
def own_cache(monkeypatch: pytest.MonkeyPatch) -> None:
    """Empty the cache, and keep entries from expiring on a busy machine."""
    cache.clear()
    keep = cache.set
    monkeypatch.setattr(cache, "set", lambda key, value, timeout: keep(key, value, None))


@pytest.fixture(autouse=True)
def names_of_templates(monkeypatch: pytest.MonkeyPatch) -> None:
    """Fail where a template uses a name that its page's context does not have."""
    monkeypatch.setattr(engines["django"].engine, "string_if_invalid", NoSuchName())
