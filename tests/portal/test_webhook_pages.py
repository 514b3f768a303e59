"""Company's page, webhooks: conditions in words, the log, and what a person can do about them."""

import html
import re
from collections.abc import Callable, Iterator
from datetime import timedelta
from typing import Any
from uuid import uuid4

import pytest
from django.core.cache import cache
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from pytest_django import Settings

from companies.models import AuditEntry, Company
from deliveries import publishing
from deliveries.engine import holding
from deliveries.engine.signing import sign
from deliveries.models import OPEN, Delivery, Health, SampleSend, State
from deliveries.on_demand import sample_delivery
from tests import builders as build
from tests.deliveries import worlds
from tests.deliveries.worlds import World
from tests.portal.conftest import Enter, csrf_of
from tests.sending import deliver, make_due
from tools.faults.receiver import Answer, Receiver
from webhooks import services
from webhooks.models import Webhook
from webhooks.targets import Policy

LIST = "/c/webhooks"


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    with Receiver() as receiver:
        yield receiver


@pytest.fixture
def world(db: None, receiver: Receiver, loopback: Policy) -> World:
    """Create two companies with two webhooks each, which share a receiver."""
    return worlds.make_world(receiver)


@pytest.fixture
def browser(world: World, by_session: Enter) -> Client:
    return by_session(world.acme)


def address(webhook: Webhook) -> str:
    return f"{LIST}/{webhook.pk}"


def text_of(page: Any) -> str:
    """Return what a person reads on a page."""
    words = re.sub(r"<[^>]*>", " ", page.content.decode())
    return " ".join(html.unescape(words).split())


def read(client: Client, url: str, status: int = 200) -> str:
    page = client.get(url)
    assert page.status_code == status
    return text_of(page)


def act(client: Client, at: str, **fields: object) -> Any:
    return client.post(at, {"csrf": csrf_of(client), **fields})


def test_the_list_has_the_company_s_own_webhooks(world: World, by_session: Enter) -> None:
    services.delete_webhook(world.acme, world.webhooks[0].pk)

    text = read(by_session(world.acme), LIST)

    assert f"Webhook {world.webhooks[1].pk} 127.0.0.1" in text
    assert "As tracking.simple, with the shop's order" in text
    for other in (world.webhooks[0], *world.webhooks[2:]):
        assert f"Webhook {other.pk} " not in text


def nothing(webhook: Webhook) -> None:
    pass


def arrived(webhook: Webhook) -> None:
    publish(webhook)
    Delivery.objects.update(state=State.DELIVERED, archived_on=timezone.now().date())


def late(webhook: Webhook) -> None:
    publish(webhook, ago=timedelta(minutes=5))


def failing(webhook: Webhook) -> None:
    publish(webhook)
    Delivery.objects.update(attempts=3, step=3, last_error="dns")
    Health.objects.create(webhook=webhook, failures=3, failing_since=timezone.now())


def resting(webhook: Webhook) -> None:
    failing(webhook)
    Health.objects.update(resting_until=timezone.now() + timedelta(minutes=4))


def unreadable(webhook: Webhook) -> None:
    resting(webhook)
    with connection.cursor() as cursor:
        cursor.execute("UPDATE webhooks_webhook SET secret = 'lost' WHERE id = %s", [webhook.pk])


def gone(webhook: Webhook) -> None:
    services.pause(webhook.pk, "The receiver answered 410 Gone.")


def held(webhook: Webhook) -> None:
    hold = {"by": "olga", "reason": "their firewall", "public_reason": "You asked for it."}
    holding.hold_host("127.0.0.1", hours=2, **hold)


def fetched(webhook: Webhook) -> None:
    Webhook.objects.filter(pk=webhook.pk).update(url="")


def publish(webhook: Webhook, count: int = 1, ago: timedelta = timedelta(0)) -> None:
    """Publish events for one webhook alone."""
    others = Webhook.objects.filter(company=webhook.company).exclude(pk=webhook.pk)
    others.update(active=False)
    news = [worlds.news(webhook, shipment, 0) for shipment in range(1, count + 1)]
    publishing.publish(news)
    if ago:
        Delivery.objects.update(created_at=timezone.now() - ago)


@pytest.mark.parametrize(
    ("happen", "english", "spanish"),
    [
        (nothing, ["No deliveries yet"], ["Sin entregas todavía"]),
        (arrived, ["Works", "Deliveries arrive."], ["Funciona"]),
        (late, ["Behind", "Waiting, in order: 1, the oldest since "], ["Con retraso", "orden: 1"]),
        (failing, ["Failing", "It has failed since", "name cannot be resolved."], ["Con fallas"]),
        (resting, ["Failing", "order: 1"], ["Con fallas", "orden: 1"]),
        (unreadable, ["Needs a new secret"], ["Necesita un secreto nuevo"]),
        (gone, ["Paused", "We paused it: The receiver answered 410"], ["En pausa"]),
        (held, ["On hold", "You asked for it.", "The hold ends:"], ["Retenido"]),
        (fetched, ["Read by programs"], ["Leído por programas"]),
    ],
)
def test_the_condition_is_in_words(
    world: World,
    by_session: Enter,
    happen: Callable[[Webhook], None],
    english: list[str],
    spanish: list[str],
) -> None:
    webhook = world.webhooks[0]
    happen(webhook)
    world.acme.time_zone = "America/Tijuana"
    world.acme.save()

    for language, expected, zone in (
        ("en", english, "(Northwest Mexico Time)"),
        ("es", spanish, "(hora del noroeste)"),
    ):
        client = by_session(world.acme, language=language)
        for url in (LIST, address(webhook)):
            text = read(client, url)
            for words in expected:
                assert words in text
            if "since" in " ".join(english):
                assert zone in text
            text, _, _ = text.partition("def verify")
            assert not re.search(r"olga|firewall|resting|unreadable|null|None", text)


def test_a_failing_webhook_is_mended_tested_and_caught_up(
    world: World, browser: Client, receiver: Receiver, loopback: Policy
) -> None:
    webhook, url = world.webhooks[0], receiver.url + "/mended"
    # The new address verifies, the old one refuses everything.
    receiver.answer = lambda received: Answer(
        200 if received.path == "/mended" and is_genuine(received, webhook.secret) else 401
    )
    world.publish(1, 2)
    deliver(loopback)

    text = read(browser, address(webhook))
    assert "Failing" in text
    assert "Answered 401, not 2xx." in text
    assert "The receiver does not let us in." in text

    changed = act(browser, address(webhook), act="url", url=f" {url} ")
    assert changed.status_code == 303
    assert changed["Location"] == f"{address(webhook)}?did=url#content"
    assert "The new URL counts from now on." in read(browser, changed["Location"])

    text = text_of(act(browser, address(webhook), act="test"))
    assert "The receiver accepted it: answer 200" in text
    assert "It refused one that was changed on the way, as it should. All is well." in text

    recovered = act(browser, address(webhook), act="recover", since="all")
    assert recovered["Location"] == f"{address(webhook)}?did=recovered&count=2#content"
    deliver(loopback)

    text = read(browser, recovered["Location"])
    assert "Being sent again, in order. Deliveries: 2." in text
    assert "Works" in text
    assert "Failing" not in text
    own = Delivery.objects.filter(webhook=webhook)
    assert set(own.values_list("state", flat=True)) == {State.DELIVERED}
    assert Delivery.objects.exclude(webhook=webhook).filter(state=State.DELIVERED).count() == 0


def is_genuine(received: Any, secret: str) -> bool:
    headers = received.headers
    timestamp, event = int(headers["X-Webhook-Timestamp"]), headers["X-Webhook-Event"]
    fresh = abs(timezone.now().timestamp() * 1000 - timestamp) < 300_000
    signature = sign(secret, timestamp, event, received.body)
    return fresh and signature == headers["X-Webhook-Signature"]


def test_the_log_goes_back_page_by_page(world: World, browser: Client) -> None:
    webhook = world.webhooks[0]
    publish(webhook, 45)

    url, pages = address(webhook), []
    while url:
        page = browser.get(url).content.decode()
        pages.append(re.findall(r"/c/deliveries/([0-9a-f-]{36})", page))
        older = re.search(r'href="(\?older=[^"#]+)', page)
        url = older and address(webhook) + html.unescape(older[1])

    assert [len(page) for page in pages] == [20, 20, 5]
    assert len({one for page in pages for one in page}) == 45
    for cursor in ("x", "é", "\x00", "A" * 43):
        assert browser.get(address(webhook), {"older": cursor}).status_code == 404


def test_a_delivery_shows_what_was_sent_and_what_came_back(
    world: World, browser: Client, receiver: Receiver, loopback: Policy
) -> None:
    webhook = world.webhooks[0]
    receiver.answer = lambda received: Answer(500, body="<b>ñoño 📦</b>\x00".encode())
    news = build.news(world.acme, 7, body='{"place":"León 📦","quote":"</pre>"}'.encode())
    publishing.publish([news])
    deliver(loopback)
    delivery = Delivery.objects.get()

    page = browser.get(f"/c/deliveries/{delivery.pk}")

    text = html.unescape(page.content.decode())
    assert '"place": "León 📦"' in text
    assert "Answered 500, not 2xx." in text
    assert f"POST {webhook.url}\n" in text
    assert f"X-Webhook-Id: {delivery.pk}\n" in text
    assert "X-Webhook-Signature: v1=…\n" in text
    assert "Authorization: Bearer …\n" in text
    assert "&lt;b&gt;ñoño 📦&lt;/b&gt;" in page.content.decode()
    assert "<b>" not in page.content.decode()
    signature = receiver.log[0].headers["X-Webhook-Signature"]
    assert signature not in text


def test_a_pruned_event_and_a_deleted_webhook_still_show(world: World, browser: Client) -> None:
    publish(world.webhooks[0])
    delivery = Delivery.objects.get()
    with connection.cursor() as cursor:
        cursor.execute("DELETE FROM deliveries_event")
    services.delete_webhook(world.acme, world.webhooks[0].pk)
    url = f"/c/deliveries/{delivery.pk}"

    assert "Its content was deleted after its retention." in read(browser, url)
    assert "Its webhook was deleted." in text_of(act(browser, url, attempts=0))


def give_up(webhook: Webhook, **changes: Any) -> Delivery:
    publish(webhook)
    ended = {"state": State.GIVEN_UP, "attempts": 10, "last_status": 500}
    Delivery.objects.update(archived_on=timezone.now().date(), **{**ended, **changes})
    return Delivery.objects.get()


def test_a_delivery_is_sent_again_once(world: World, browser: Client) -> None:
    delivery = give_up(world.webhooks[0])
    url = f"/c/deliveries/{delivery.pk}"

    dids = [act(browser, url, attempts=10)["Location"].partition("?did=")[2] for _ in range(2)]

    assert dids == ["again#content", "already#content"]
    row = Delivery.objects.get()
    assert (row.archived_on, row.asked_times) == (OPEN, 1)
    assert "It is being sent again." in read(browser, f"{url}?did=again")
    # It was tried meanwhile.
    Delivery.objects.update(state=State.GIVEN_UP, archived_on=timezone.now().date(), attempts=11)
    assert act(browser, url, attempts=10)["Location"].endswith("already#content")


def test_a_delivery_names_its_next_attempt_while_that_is_ahead(
    world: World, browser: Client
) -> None:
    publish(world.webhooks[0])
    delivery = Delivery.objects.get()
    due = timezone.now().replace(microsecond=0) + timedelta(hours=1)
    Delivery.objects.update(due_at=due, created_at=due.replace(minute=7, second=58))
    assert "Next attempt: " in read(browser, f"/c/deliveries/{delivery.pk}")
    assert re.search(r"\d:07:58\b", read(browser, address(world.webhooks[0])))

    # It waits behind an earlier one.
    Delivery.objects.update(due_at=timezone.now() - timedelta(minutes=3))
    assert "Next attempt: " not in read(browser, f"/c/deliveries/{delivery.pk}")


def test_a_person_who_asks_too_often_is_told_so(world: World, browser: Client) -> None:
    today = timezone.now().date()
    delivery = give_up(world.webhooks[0], asked_on=today, asked_times=100)

    again = act(browser, f"/c/deliveries/{delivery.pk}", attempts=10)
    recovery = act(browser, address(world.webhooks[0]), act="recover", since="week")

    for page in (again, recovery):
        assert page.status_code == 429
        assert "Asked for too often today: try again tomorrow." in text_of(page)


@pytest.mark.parametrize(("since", "count"), [("hour", 1), ("day", 2), ("week", 3), ("all", 4)])
def test_the_span_to_recover_is_what_was_chosen(
    world: World, browser: Client, since: str, count: int
) -> None:
    webhook = world.webhooks[0]
    publish(webhook, 4)
    ages = [timedelta(minutes=5), timedelta(hours=5), timedelta(days=5), timedelta(days=50)]
    for row, age in zip(Delivery.objects.all(), ages, strict=True):
        Delivery.objects.filter(pk=row.pk).update(created_at=timezone.now() - age)
    # A delivery that was given up counts too, though nothing waits for it.
    ended = {"state": State.GIVEN_UP, "archived_on": timezone.now().date()}
    Delivery.objects.filter(pk=row.pk).update(**ended)

    done = act(browser, address(webhook), act="recover", since=since)

    assert done["Location"].endswith(f"count={count}#content")


@pytest.mark.parametrize(
    ("url", "english", "spanish"),
    [
        ("http://[", "The host is malformed", "no está bien escrito"),
        ("ftp://hooks.example.com", "The URL must start with https://.", "debe comenzar con"),
        ("https://10.0.0.1/", "10.0.0.1 is not public", "no es pública"),
        ("https://ñ.internal/", "is not a public host name", "no es un nombre público"),
        ("https://hooks.acme.com:22/", "Port 22 is not allowed; use one of 443", "no se permite"),
        ("https://a@hooks.acme.com/", "contains credentials", "credenciales"),
        ('https://"><script>.com/', "not a valid name", "no es un nombre válido"),
        ("", "This is not a URL", "no es una URL"),
    ],
)
def test_a_url_is_refused_in_words(
    world: World, by_session: Enter, url: str, english: str, spanish: str
) -> None:
    webhook = world.webhooks[0]
    for language, words in (("en", english), ("es", spanish)):
        page = act(by_session(world.acme, language=language), address(webhook), act="url", url=url)

        assert page.status_code == 400
        content = page.content.decode()
        (error,) = re.findall(r'role="alert" id="url-error">(.*?)</p>', content)
        assert words in html.unescape(error)
        assert f'value="{html.escape(url)}"' in content
        assert 'aria-describedby="url-error"' in content
        assert "<script>" not in content
    webhook.refresh_from_db()
    assert webhook.url == f"{world.receiver.url}{worlds.path(webhook)}"


def test_a_url_in_use_is_refused(world: World, browser: Client) -> None:
    webhook = world.webhooks[0]
    other = build.webhook(world.acme, webhook.type_id)

    page = act(browser, address(webhook), act="url", url=other.url)

    assert page.status_code == 409
    assert f"Webhook {other.pk} already sends the same events" in text_of(page)


def test_pausing_and_resuming(world: World, browser: Client) -> None:
    webhook = world.webhooks[0]

    for name, active in (("pause", False), ("pause", False), ("resume", True)):
        done = act(browser, address(webhook), act=name)
        webhook.refresh_from_db()
        assert (done.status_code, webhook.active) == (303, active)
        assert f"{name.capitalize()}d: " in read(browser, done["Location"])


def test_a_test_says_what_is_wrong(world: World, by_session: Enter, receiver: Receiver) -> None:
    url = address(world.webhooks[0])
    receiver.answer = lambda received: Answer(404)
    english = text_of(act(by_session(world.acme, language="en"), url, act="test"))
    spanish = text_of(act(by_session(world.acme, language="es"), url, act="test"))

    assert "The receiver did not accept it. Answer 404 after" in english
    assert "The receiver knows no such path. Check this webhook's url." in english
    assert "El receptor no conoce esta ruta." in spanish

    receiver.answer = lambda received: Answer()
    text = text_of(act(by_session(world.acme), url, act="test"))
    assert "The receiver accepted a request whose body was changed" in text
    assert "All is well." not in text


def test_a_test_of_a_paused_webhook_says_how_to_resume_it(world: World, browser: Client) -> None:
    webhook = world.webhooks[0]
    services.change_webhook(world.acme, webhook.pk, active=False)

    text = text_of(act(browser, address(webhook), act="test"))

    assert "This webhook is paused. It gets its deliveries once" in text


def test_tests_count_with_those_by_api(
    world: World, browser: Client, settings: Settings, receiver: Receiver, one_minute: None
) -> None:
    url = address(world.webhooks[0])
    settings.RATE_LIMITS = {**settings.RATE_LIMITS, "send": 1}
    assert act(browser, url, act="test").status_code == 200
    sent = len(receiver.log)

    page = act(browser, url, act="test")

    assert (page.status_code, len(receiver.log)) == (429, sent)
    assert "Too many tests at a time." in text_of(page)
    cache.clear()
    until = timezone.now() + timedelta(seconds=60)
    for _ in range(sample_delivery.PER_COMPANY):
        SampleSend.objects.create(company_id=world.acme.pk, process="elsewhere", until=until)
    assert act(browser, url, act="test").status_code == 429


def test_a_test_of_a_url_that_is_no_longer_allowed(
    world: World, browser: Client, settings: Settings
) -> None:
    settings.WEBHOOK_ALLOW_HTTP = False

    page = act(browser, address(world.webhooks[0]), act="test")

    assert page.status_code == 422
    assert "The URL must start with https://." in text_of(page)


def key_in(page: Any) -> str:
    return str(re.findall(r'name="key" value="([^"]*)"', page.content.decode())[0])


def test_a_new_secret_is_shown_once(world: World, browser: Client) -> None:
    webhook = world.webhooks[0]
    url, old = f"{address(webhook)}/secret", webhook.secret
    form = browser.get(url)
    webhook.refresh_from_db()
    assert webhook.next_secret is None

    answer = act(browser, url, key=key_in(form), when="hour")

    webhook.refresh_from_db()
    assert webhook.secret == old
    assert abs(webhook.next_secret_at - timezone.now() - timedelta(hours=1)) < timedelta(minutes=5)
    content = answer.content.decode()
    assert answer.status_code == 200
    assert webhook.next_secret in content
    assert "whsec_" in content
    assert old not in content
    assert "no-store" in answer["Cache-Control"]
    assert "Until then the old one signs" in text_of(answer)
    assert "A new secret signs from" in read(browser, address(webhook))

    # Reload sends the same form.
    again = act(browser, url, key=key_in(form), when="hour")
    made = webhook.next_secret
    webhook.refresh_from_db()
    assert (again.status_code, webhook.next_secret) == (409, made)
    assert made not in again.content.decode()
    assert "No further secret was made" in text_of(again)
    # Whoever did not copy it makes another, at once.
    fresh = act(browser, url, key=key_in(again), when="now")
    webhook.refresh_from_db()
    assert webhook.next_secret not in (made, old)
    assert webhook.next_secret in fresh.content.decode()
    assert webhook.next_secret_at <= timezone.now()


def test_a_secret_that_cannot_be_read_is_replaced_at_once(world: World, browser: Client) -> None:
    webhook = world.webhooks[0]
    unreadable(webhook)
    url = f"{address(webhook)}/secret"

    answer = act(browser, url, key=key_in(browser.get(url)), when="day")

    webhook.refresh_from_db()
    assert webhook.secret in answer.content.decode()
    assert "It signs from now on." in text_of(answer)


@pytest.mark.parametrize("page", ["", "/secret"])
def test_a_webhook_that_is_deleted_meanwhile_is_not_there(
    world: World, browser: Client, monkeypatch: pytest.MonkeyPatch, page: str
) -> None:
    webhook = world.webhooks[0]
    lock = services.lock_webhook

    def delete_first(company: Company, webhook_id: int) -> Webhook:
        Webhook.objects.filter(pk=webhook_id).update(deleted_at=timezone.now())
        return lock(company, webhook_id)

    monkeypatch.setattr(services, "lock_webhook", delete_first)

    answer = act(browser, f"{address(webhook)}{page}", act="pause", key="first")

    assert answer.status_code == 404


def test_what_a_kind_of_webhook_lacks_is_not_offered(world: World, browser: Client) -> None:
    unsigned = build.webhook(world.acme, type_id=1)
    without_url = build.webhook(world.acme, url="")

    page = browser.get(address(unsigned)).content.decode()
    assert "verify" not in page
    assert "secret" not in page
    assert browser.get(f"{address(unsigned)}/secret").status_code == 404
    assert act(browser, f"{address(unsigned)}/secret").status_code == 404
    page = browser.get(address(without_url)).content.decode()
    assert 'value="test"' not in page
    for name in ("test", "recover", "url", "delete", ""):
        assert act(browser, address(without_url), act=name).status_code == 404


def test_verifying_is_shown_in_five_languages(world: World, browser: Client) -> None:
    page = html.unescape(browser.get(address(world.webhooks[0])).content.decode())

    for code in ("def verify(\n", "function verify(secret", "hash_equals(", "require", "package"):
        assert code in page
    assert page.count("<details>") == 5
    assert f"the secret of webhook {world.webhooks[0].pk}" in " ".join(page.split())


def pages_of(webhook: Webhook, delivery: Delivery) -> list[str]:
    return [address(webhook), f"{address(webhook)}/secret", f"/c/deliveries/{delivery.pk}"]


def test_strangers_see_and_do_nothing(
    world: World, by_session: Enter, by_link: Enter, receiver: Receiver
) -> None:
    webhook = world.webhooks[0]
    delivery = give_up(webhook)
    ticket = build.ticket(world.acme)
    before = rows()
    visitors = [
        (by_session(world.birch), 404),
        (by_session(world.acme, webhooks=False), 403),
        (by_link(ticket), 403),
        (Client(), 403),
    ]
    for client, status in visitors:
        for url in pages_of(webhook, delivery):
            assert client.get(url).status_code == status
            for name in ("test", "recover", "pause", "resume", "url"):
                fields = {"act": name, "url": "https://evil.acme.com", "key": "first"}
                page = client.post(url, {**fields, "attempts": 10, "csrf": own_csrf(client)})
                assert page.status_code == status
                assert "127.0.0.1" not in page.content.decode()
    own = by_session(world.acme)
    for url in pages_of(webhook, delivery):
        assert own.post(url, {"act": "pause", "key": "first"}).status_code == 403
        assert own.head(url).status_code == 200
    assert own.get(f"/c/deliveries/{uuid4()}").status_code == 404
    assert rows() == before
    assert receiver.log == []


def own_csrf(client: Client) -> str:
    return csrf_of(client) if client.cookies else "x"


def rows() -> list[Any]:
    return [
        *Webhook.objects.order_by("pk").values(),
        *Delivery.objects.order_by("pk").values(),
        AuditEntry.objects.exclude(act="portal_open").count(),
    ]


def test_no_page_has_a_secret_or_a_token(
    world: World, by_session: Enter, receiver: Receiver, loopback: Policy
) -> None:
    receiver.answer = lambda received: Answer(503)
    for webhook in world.webhooks:
        services.rotate_secret(webhook.company, webhook.pk, activates_in=timedelta(hours=1))
        services.change_webhook(webhook.company, webhook.pk, standard_headers=True)
    world.publish(1)
    deliver(loopback)
    secrets = {
        secret
        for one in Webhook.objects.all()
        for secret in (one.secret, one.next_secret, one.auth_token)
    }
    sent = {
        value
        for received in receiver.log
        for name, value in received.headers.items()
        if name.lower().endswith("signature") or name == "Authorization"
    }
    assert (len(secrets), len(sent)) == (12, 12)
    pages = []
    for language in ("en", "es"):
        client = by_session(world.acme, language=language)
        for webhook in world.webhooks[:2]:
            delivery = Delivery.objects.get(webhook=webhook)
            pages += [client.get(url) for url in [LIST, *pages_of(webhook, delivery)]]
            pages += [act(client, address(webhook), act=name) for name in ("test", "url")]
            pages.append(act(client, f"{address(webhook)}/secret", key="old"))

    for page in pages:
        content = page.content.decode()
        assert [one for one in secrets | sent if one in content] == []
        assert re.search(r"whsec_|Birch|style=|onclick=", content) is None
        for other in world.webhooks[2:]:
            assert address(other) not in content


def test_acts_are_audited_with_the_token_of_the_session(world: World, browser: Client) -> None:
    webhook = world.webhooks[0]
    url, delivery = address(webhook), give_up(webhook)
    act(browser, url, act="pause")
    act(browser, url, act="resume")
    act(browser, url, act="url", url=f"{world.receiver.url}/new")
    act(browser, f"/c/deliveries/{delivery.pk}", attempts=10)
    act(browser, url, act="recover", since="day")
    act(browser, f"{url}/secret", key="first", when="now")

    entries = AuditEntry.objects.exclude(act="portal_open").order_by("pk")

    assert [(one.act, one.about) for one in entries] == [
        ("change_webhook", f"webhook {webhook.pk}"),
        ("change_webhook", f"webhook {webhook.pk}"),
        ("change_webhook", f"webhook {webhook.pk}"),
        ("redeliver", f"delivery {delivery.pk}"),
        ("recover", f"webhook {webhook.pk}"),
        ("rotate_secret", f"webhook {webhook.pk}"),
    ]
    assert {(one.company_id, one.details["token"]) for one in entries} == {
        (world.acme.pk, "test_page")
    }


def count_queries(client: Client, url: str) -> int:
    with CaptureQueriesContext(
        connection,
    ) as queries:
        assert client.get(url).status_code == 200
    return len(queries)


def test_more_rows_need_no_more_queries(
    world: World, browser: Client, receiver: Receiver, loopback: Policy
) -> None:
    webhook = world.webhooks[0]
    receiver.answer = lambda received: Answer(503)
    publish(webhook)
    deliver(loopback)
    url = f"/c/deliveries/{Delivery.objects.get().pk}"
    before = [count_queries(browser, each) for each in (LIST, address(webhook), url)]

    for number in range(10):
        failing(build.webhook(world.acme, url=f"https://hooks.example.com/{number}"))
    make_due()
    deliver(loopback)
    publish(webhook, 30)
    after = [count_queries(browser, each) for each in (LIST, address(webhook), url)]

    assert after == before
    assert max(after) <= 10


def test_a_company_without_webhooks_is_told_so(by_session: Enter, company: Company) -> None:
    assert "Your company has no webhook." in read(by_session(company), LIST)


def test_an_open_page_asks_for_changes(by_session: Enter, company: Company) -> None:
    webhook = build.webhook(company)
    client = by_session(company)
    versions = []
    for address in ("/c/webhooks", f"/c/webhooks/{webhook.pk}", "/c/tickets"):
        version = client.get(address)["ETag"]
        versions.append(version)
        again = client.get(address, headers={"If-None-Match": version})
        assert (again.status_code, again.content) == (304, b"")
        assert again["Cache-Control"] == "private, no-store"
    services.change_webhook(company, webhook.pk, active=False)
    assert client.get("/c/webhooks", headers={"If-None-Match": versions[0]}).status_code == 200
