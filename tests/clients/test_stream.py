"""clients/ and the stream of the real service: listen forwards what was published."""

import time
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest
from pytest_django.live_server_helper import LiveServer

from companies import services
from deliveries import publishing
from tests import builders as build
from tests.clients.stand_in import load
from tools.faults.receiver import Receiver
from webhooks.models import Webhook

listen, client, verifier = map(load, ("listen.py", "python/parceldesk.py", "python/verify.py"))


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    with Receiver() as receiver:
        yield receiver


def test_published_events_reach_the_laptop_signed_and_in_order(
    live_server: LiveServer,
    receiver: Receiver,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    company = build.company("Acme")
    token = services.issue_token(company.pk)
    desk = client.Parceldesk(token, url=live_server.url)
    bodies = [b'{"n":  %d, "place": "Le\xc3\xb3n"}' % n for n in range(45)]
    naps = iter(range(3))

    def nap(_: float) -> None:
        if next(naps) < 2:
            publishing.publish(
                [build.news(company, n % 3 + 1, body=body) for n, body in enumerate(bodies)]
            )
            return
        # Listen deletes it at its end; until then the Python client reads the same stream.
        (webhook,) = desk.webhooks.list(without_url=True)
        pages = list(desk.webhooks.events(webhook["id"], limit=50))
        with pytest.raises(client.ApiError) as without_url:
            desk.webhooks.test(webhook["id"])
        assert without_url.value.code == "webhook_without_url"
        read.extend(event["id"] for page in pages for event in page.events)
        raise listen.Stop

    read: list[str] = []
    clock = SimpleNamespace(sleep=nap, monotonic=time.monotonic, strftime=time.strftime)
    monkeypatch.setattr(listen, "time", clock)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    arguments = ["--url", live_server.url, "--token", token, "--forward", receiver.url]

    assert listen.main(arguments) == 0

    printed = capsys.readouterr().out
    secret = printed.partition("signing secret ")[2].partition("\n")[0]
    assert [each.body for each in receiver.log] == bodies * 2
    assert all(verifier.verify(secret, each.headers, each.body) for each in receiver.log)
    assert read == [each.headers["X-Webhook-Id"] for each in receiver.log]
    assert len(set(read)) == len(read)
    assert not Webhook.objects.filter(deleted_at=None).exists()
