import gc
import os
import time
from collections.abc import Callable, Iterator
from ipaddress import ip_network
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from uuid import uuid4
from weakref import ReferenceType, ref

import psycopg
import pytest
from django.apps import AppConfig
from django.contrib import admin
from django.contrib.staticfiles.handlers import StaticFilesHandler
from django.core.cache import cache
from django.core.management.commands import flush
from django.db import connection, transaction
from django.db.backends.postgresql.creation import DatabaseCreation
from django.db.backends.postgresql.operations import DatabaseOperations
from django.db.models import Model
from django.db.models.signals import post_migrate
from django.dispatch import receiver
from django.template import Context, RequestContext, Template
from django.test.signals import template_rendered
from hypothesis import HealthCheck
from hypothesis import settings as examples
from pytest_django import DjangoDbBlocker, Settings
from rest_framework.test import APIClient

from companies import services
from companies.api import rates
from companies.models import Company
from config.memory import settle
from core.jobs import deployments
from core.models import Deployment
from core.watch import request_ids
from core.watch.log_floods import FLOODS
from deliveries.upkeep import partitions
from tests import builders as build
from tests.shipments import feeding
from tests.shipments.feeding import Fed, Line
from tests.waiting import time_limit
from tickets.models import Agent
from tickets.sla import policy
from tools.dev import pytest_servers
from tools.dev.locks import exclusively
from webhooks import target_policy
from webhooks.targets import Policy

TESTS = Path(__file__).resolve().parent

# Load the admin pages as config.urls does: tests list them before any is opened.
admin.autodiscover()

# An example's duration depends on the machine. Other settings stay as they are in CI.
examples.register_profile(
    "unhurried", examples(), deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
examples.load_profile("unhurried")


# They start programs and wait for them. Run first, they wait while the others compute; run last,
# they leave one process waiting alone.
PATIENT = ("bench", "devtools", "further", "upgrades", "walks")
# Each of these takes seconds, some a minute, so the short ones come last.
EARLY = (*PATIENT, "browser")


# Loaded modules stay. Collecting them again and again would take a tenth of all time.
gc.disable()


def pytest_collection_finish() -> None:
    settle()
    gc.set_threshold(100_000, 20, 20)
    gc.enable()


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Put the long ones first; within both halves pytest-django's order stays."""
    items.sort(key=lambda item: item.path.relative_to(TESTS).parts[0] not in EARLY)


# Nothing healthy takes this long, however busy the machine is: a test that hangs fails by itself.
LIMIT_SECONDS, PATIENT_LIMIT_SECONDS = 300, 1800


def limit_of(item: pytest.Item) -> int:
    patient = item.path.relative_to(TESTS).parts[0] in PATIENT
    return PATIENT_LIMIT_SECONDS if patient else LIMIT_SECONDS


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Iterator[None]:
    with time_limit(limit_of(item)):
        return (yield)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_teardown(item: pytest.Item) -> Iterator[None]:
    with time_limit(limit_of(item)):
        yield
    close_what_was_left_open()


# A list, because servers' threads add to it while the end of a test iterates over it.
opened: list[ReferenceType[psycopg.Connection[Any]]] = []
open_connection = psycopg.Connection.__init__


def note_opened(self: psycopg.Connection[Any], *arguments: Any, **options: Any) -> None:
    open_connection(self, *arguments, **options)
    opened.append(ref(self))


psycopg.Connection.__init__ = note_opened  # type: ignore[method-assign]


PATIENCE_SECONDS = 20


def left_open() -> list[psycopg.Connection[Any]]:
    alive = [each for each in (reference() for reference in opened.copy()) if each is not None]
    return [each for each in alive if not each.closed and each is not connection.connection]


def close_what_was_left_open() -> None:
    """Fail the test that has left a connection to PostgreSQL open.

    Otherwise Python collects it during another test, and that one fails. A server's thread
    closes its connection only after the response, and gets the time for that.
    """
    until = time.monotonic() + PATIENCE_SECONDS
    while left_open() and time.monotonic() < until:
        time.sleep(0.01)
    unclosed = left_open()
    for each in unclosed:
        each.close()
    opened[:] = [reference for reference in opened.copy() if reference() is not None]
    assert not unclosed, f"{len(unclosed)} connections were left open"


def render_noting_pages(self: Template, context: Context) -> str:
    """Note the context of a page for `response.context`.

    Django's tests note that of each part and widget too: a page has hundreds, and each is copied.
    """
    if context.template is self and isinstance(context, RequestContext):
        template_rendered.send(sender=self, template=self, context=context)
    return self.nodelist.render(context)


@pytest.fixture(scope="session", autouse=True)
def noted_pages(django_test_environment: None) -> None:
    Template._render = render_noting_pages  # type: ignore[attr-defined]


def signed_in(company: Company) -> APIClient:
    client = APIClient(raise_request_exception=False)
    client.default_format = "json"
    client.credentials(HTTP_AUTHORIZATION=f"Bearer {services.issue_token(company.pk)}")
    return client


@pytest.fixture(autouse=True)
def own_floods() -> None:
    """Clear the flood filter, so that lines of other tests drop none of this one's."""
    FLOODS.forget()


@pytest.fixture(autouse=True)
def own_request() -> None:
    """End the request of another test whose response was not read to its end."""
    request_ids.end_request()


@pytest.fixture
def company(db: None) -> Company:
    """Create Acme, which calls the API."""
    return build.company("Acme")


@pytest.fixture
def birch(db: None) -> Company:
    """Create another company, which must never see anything of Acme's."""
    return build.company("Birch")


@pytest.fixture
def api(company: Company) -> APIClient:
    return signed_in(company)


@pytest.fixture
def birch_api(birch: Company) -> APIClient:
    return signed_in(birch)


shipped: dict[type[Model], list[Model]] = {}


@receiver(post_migrate)
def keep_the_shipped_rows(sender: AppConfig, **_: object) -> None:
    """Read the rows that migrations insert, such as the ticket types."""
    if sender.name == "tickets" and not shipped:
        shipped.update({model: list(model.objects.all()) for model in sender.get_models()})


def put_back_the_shipped_rows() -> None:
    """Insert them again, because the flush after a test that commits deletes them too."""
    with transaction.atomic():
        for model, rows in shipped.items():
            model.objects.bulk_create(rows, ignore_conflicts=True)


# Migrations fill these tables, and the service never writes them.
FIXED_TABLES = {"django_content_type", "auth_permission", "django_migrations"}


def delete_rows(
    operations: DatabaseOperations, style: object, tables: list[str], **_: object
) -> list[str]:
    """Flush after a test that commits, but only the tables that it has filled.

    Emptying all of them takes PostgreSQL a hundred times as long. Triggers that guard rows, such as
    those of history, are disabled meanwhile.
    """
    quoted = {name: operations.quote_name(name) for name in set(tables) - FIXED_TABLES}
    ask = " UNION ALL ".join(
        f"(SELECT '{name}' FROM {table} LIMIT 1)"  # noqa: S608 - names of our tables
        for name, table in quoted.items()
    )
    with operations.connection.cursor() as cursor:
        cursor.execute(ask)
        filled = [name for (name,) in cursor.fetchall()]
    delete = [f"DELETE FROM {quoted[name]}" for name in filled]  # noqa: S608 - the same
    return ["SET LOCAL session_replication_role = replica", *delete] if delete else []


DatabaseOperations.sql_flush = delete_rows


def put_back_rows(*_: object, **__: object) -> None:
    """Restore rows after a flush, instead of running every post_migrate handler.

    Those iterate over all content types and permissions, which the flush leaves alone.
    """
    put_back_the_shipped_rows()
    put_back_the_deployment()
    partitions.prepare_partitions()


flush.emit_post_migrate_signal = put_back_rows

if pytest_servers.FOLDER in os.environ:
    # A temporary server is removed with all its databases.
    DatabaseCreation._destroy_test_db = lambda *_: None

# Servers in tests send styles and scripts as the service does: by its middleware.
StaticFilesHandler._should_handle = lambda handler, path: False


@pytest.fixture(scope="session")
def django_db_modify_db_settings(
    django_db_modify_db_settings_parallel_suffix: None, django_db_blocker: DjangoDbBlocker
) -> None:
    """Migrate in the first of several processes; each works on a copy of its database."""
    folder = os.environ.get(pytest_servers.FOLDER)
    if folder and "PYTEST_XDIST_WORKER" in os.environ:
        with exclusively(Path(folder) / "migrating"), django_db_blocker.unblock():
            connection.settings_dict["TEST"]["TEMPLATE"] = migrated_database()


def migrated_database() -> str:
    """Return the name of a database with all tables, which the first caller creates."""
    name, own_settings = "migrated", connection.settings_dict
    connection.settings_dict = {**own_settings, "NAME": "postgres"}
    with connection.cursor() as cursor:
        cursor.execute("SELECT 1 FROM pg_database WHERE datname = %s", [name])
        exists = cursor.fetchone()
    connection.close()
    if not exists:
        connection.settings_dict["TEST"] = {**own_settings["TEST"], "NAME": name}
        connection.creation.create_test_db(verbosity=0, serialize=False)
        connection.close()
    connection.settings_dict = own_settings
    return name


DEPLOYMENT = uuid4()
deployments.remember(DEPLOYMENT)


@receiver(post_migrate)
def keep_the_deployment(sender: AppConfig, **_: object) -> None:
    if sender.name == "core":
        put_back_the_deployment()


def put_back_the_deployment() -> None:
    """Keep it the same for the processes that tests start, whatever is deleted between them."""
    Deployment.objects.update_or_create(pk=1, defaults={"uuid": DEPLOYMENT})


@pytest.fixture(autouse=True)
def no_targets_of_another_test(monkeypatch: pytest.MonkeyPatch) -> None:
    policy.clear_cached_rules()
    # The policy is not read again in the middle of a test that counts queries.
    monkeypatch.setattr(policy, "CACHE_SECONDS", 10**9)


@pytest.fixture
def feed(tmp_path: Path) -> Callable[..., Fed]:
    """Feed lines to the command as a file."""

    def run(*lines: Line | bytes) -> Fed:
        return feeding.ingest(feeding.write(tmp_path / "feed.jsonl", *lines))

    return run


@pytest.fixture
def one_minute(monkeypatch: pytest.MonkeyPatch) -> None:
    """Count all requests in the same minute, which has no counts yet."""
    cache.clear()
    middle = time.time() // rates.WINDOW_SECONDS * rates.WINDOW_SECONDS + 20
    monkeypatch.setattr(rates, "time", SimpleNamespace(time=lambda: middle))


@pytest.fixture
def rows_to_keep(transactional_db: None) -> None:
    """Commit rows for tests in which other connections must see them."""


@pytest.fixture
def loopback(settings: Settings) -> Policy:
    """Allow a test's own receivers on loopback; returns the target policy."""
    settings.WEBHOOK_ALLOW_HTTP = True
    settings.WEBHOOK_ALLOWED_NETWORKS = (ip_network("127.0.0.0/8"), ip_network("::1/128"))
    return target_policy.current_policy()


@pytest.fixture
def agent(db: None) -> Agent:
    """Create Ada, who works tickets."""
    return build.agent("ada")
