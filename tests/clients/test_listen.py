"""clients/listen.py: every event reaches the laptop in order, whatever fails on the way."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from tests.clients.languages import CLIENTS
from tests.clients.platform import Platform
from tests.clients.stand_in import Response, load
from tools.faults.ports import free_port
from tools.faults.receiver import Answer, Received, Receiver

listen = load("listen.py")
TOKEN = "test_0123456789"


@pytest.fixture
def platform(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Platform]:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    with Platform().serving() as platform:
        monkeypatch.setenv("PARCELDESK_URL", platform.url)
        monkeypatch.setenv("PARCELDESK_TOKEN", TOKEN)
        yield platform


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    with Receiver() as receiver:
        yield receiver


@pytest.fixture
def naps(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """Replace sleep; returns the list of seconds that listen has slept, at no cost of time."""
    naps: list[float] = []
    clock = SimpleNamespace(monotonic=time.monotonic, strftime=time.strftime, naps=naps, steps=[])

    def sleep(seconds: float) -> None:
        naps.append(seconds)
        if not clock.steps:
            raise listen.Stop
        clock.steps.pop(0)()

    clock.sleep = sleep
    monkeypatch.setattr(listen, "time", clock)
    return naps


Run = Callable[..., int]


def nothing() -> None:
    """Do nothing during a nap."""


@pytest.fixture
def run(naps: list[float], receiver: Receiver) -> Run:
    """Run listen until it has napped once for each step; one step runs in each nap."""

    def started(*arguments: Any, steps: tuple[Callable[[], object], ...] = ()) -> int:
        listen.time.steps = list(steps)
        return listen.main([*map(str, arguments)] or ["--forward", f"{receiver.url}/hook?a=b"])

    return started


def numbers(receiver: Receiver) -> list[str]:
    return [each.headers["X-Webhook-Id"].partition("-")[2] for each in receiver.log]


def test_forwards_in_order_as_the_service_would_and_deletes_what_it_made(
    platform: Platform, receiver: Receiver, run: Run, capsys: pytest.CaptureFixture[str]
) -> None:
    platform.happen(count=45)

    assert run(steps=(lambda: platform.happen(count=2),)) == 0

    assert numbers(receiver) == [str(n) for n in range(47)]
    first = receiver.log[0]
    assert (first.path, first.body) == ("/hook?a=b", platform.events[0]["row"]["body"].encode())
    forwarded = dict(first.headers)
    assert (forwarded.pop("Host"), int(forwarded.pop("Content-Length"))) == (
        receiver.url.removeprefix("http://"),
        len(first.body),
    )
    assert forwarded == platform.events[0]["row"]["headers"]
    assert platform.webhooks == {}
    printed = capsys.readouterr().out.splitlines()
    assert printed[1] == "  tracking.simple: webhook 1, signing secret secret-1"
    _, event, id, status, duration = printed[3].split("  ")
    assert (event, id, status) == ("tracking.simple", "delivery-0", "200")
    assert duration.endswith(" ms")
    assert printed[-1] == "forwarded 47, not accepted 0"


def test_several_types_each_have_a_webhook(
    platform: Platform, receiver: Receiver, run: Run, capsys: pytest.CaptureFixture[str]
) -> None:
    for type_id in (5, 3, 1, 5):
        platform.happen(type_id)

    arguments = ["--forward", receiver.url, "--type", "5", "tracking.simple", "--type", "1"]
    run(*arguments, "--header", "Authorization: Bearer abc")

    assert sorted(numbers(receiver)) == ["0", "1", "2", "3"]
    assert {each.headers["Authorization"] for each in receiver.log} == {"Bearer abc"}
    assert [each.body["type_id"] for each in platform.requests if each.body] == [1, 3, 5]
    assert "onShipmentStatusUpdate: webhook 1, unsigned" in capsys.readouterr().out


def test_asks_less_often_while_nothing_comes_and_at_once_after_news(
    platform: Platform, run: Run, naps: list[float]
) -> None:
    run(steps=(*[nothing] * 11, platform.happen))

    *idle, after_news = naps
    assert idle == sorted(idle)
    assert (idle[0], idle[-1], after_news) == (1.25, 5.0, 1.0)


def test_waits_as_long_as_the_service_asks_and_survives_its_absence(
    platform: Platform,
    receiver: Receiver,
    run: Run,
    naps: list[float],
    capsys: pytest.CaptureFixture[str],
) -> None:
    platform.happen(count=3)
    platform.instead = [
        Response(429, {"message": "Too many."}, {"Retry-After": "17"}),
        Response(503, {}, {"Retry-After": "Fri, 31 Dec 1999 23:59:59 GMT"}),
        *[Response(0)] * 7,
        Response(502, b"<h1>Bad Gateway</h1>"),
        Response(200, b"<h1>Maintenance</h1>"),
    ]

    assert run(steps=(nothing,) * 11) == 0

    assert naps[:11] == [17, 2, 4, 8, 16, 30, 30, 30, 30, 30, 30]
    assert numbers(receiver) == ["0", "1", "2"]
    output = capsys.readouterr().err
    assert "it answers 429); asking again in 17 s" in output
    assert "its answer is not JSON" in output
    assert output.count("the service answers again") == 1


def test_events_wait_for_a_program_that_is_not_running(
    platform: Platform, run: Run, capsys: pytest.CaptureFixture[str]
) -> None:
    platform.happen(count=25)
    port = free_port()
    started: list[Receiver] = []

    def start() -> None:
        server = Receiver()
        server.server.server_close()
        server.server = type(server.server)(("127.0.0.1", port), server.server.RequestHandlerClass)
        started.append(server.__enter__())

    run("--forward", f"http://127.0.0.1:{port}", steps=(nothing, nothing, start))

    (receiver,) = started
    receiver.__exit__()
    assert numbers(receiver) == [str(n) for n in range(25)]
    assert capsys.readouterr().err.count("nobody listens") == 1


def test_failure_is_retried_twice_then_reported_and_skipped(
    platform: Platform,
    receiver: Receiver,
    run: Run,
    naps: list[float],
    capsys: pytest.CaptureFixture[str],
) -> None:
    platform.happen(count=4)
    answers = {
        "0": Answer(500, body=b"no\x1b[2J\ndatabase"),
        "1": Answer(401, body=b"bad signature"),
        "2": Answer(302, headers=(("Location", f"{receiver.url}/elsewhere"),)),
    }

    def answer(received: Received) -> Answer:
        return answers.get(received.headers["X-Webhook-Id"].partition("-")[2], Answer(200))

    receiver.answer = answer
    run(steps=(nothing, nothing))

    assert numbers(receiver) == ["0", "0", "0", "1", "2", "3"]
    assert naps[:2] == [1, 3]
    printed = capsys.readouterr().out
    assert "500" in printed
    assert "no [2J database" in printed
    assert "not accepted; going on without delivery-0" in printed
    assert printed.count("Does your program have the secret") == 1
    assert "forwarded 1, not accepted 3" in printed


def test_slow_forward_is_fetched_again_for_a_fresh_signature(
    platform: Platform, receiver: Receiver, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    platform.happen(count=3)
    monkeypatch.setattr(listen, "FRESH_FOR", -1)

    run(steps=(nothing,) * 4)

    assert numbers(receiver) == ["0", "1", "2"]
    assert len([line for line in platform.lines() if "/events" in line]) == 5


def test_a_cursor_that_has_expired_begins_again(
    platform: Platform, receiver: Receiver, run: Run, capsys: pytest.CaptureFixture[str]
) -> None:
    def expire() -> None:
        platform.instead = [Response(410, {"message": "Too old.", "code": "cursor_expired"})]
        platform.happen()

    platform.happen()
    run(steps=(expire,))

    assert numbers(receiver) == ["0", "0", "1"]
    assert "Too old. Beginning again" in capsys.readouterr().err


# Leftovers of a run


@pytest.fixture
def background(platform: Platform) -> Iterator[Callable[..., subprocess.Popen[str]]]:
    """Start listen in a process of its own; returns when it listens."""
    started = []

    def start() -> subprocess.Popen[str]:
        process = subprocess.Popen(
            [sys.executable, CLIENTS / "listen.py", "--forward", "http://127.0.0.1:1"],
            env=dict(os.environ),
            stdout=subprocess.PIPE,
            text=True,
        )
        started.append(process)
        while process.stdout.readline() != "Ctrl-C stops\n":
            assert process.poll() is None
        return process

    yield start
    for process in started:
        process.kill()
        process.wait()
        process.stdout.close()


def test_next_start_deletes_only_what_a_killed_run_left(
    platform: Platform, background: Any, run: Run, capsys: pytest.CaptureFixture[str]
) -> None:
    platform.webhooks[99] = {"id": 99, "type_id": 3, "url": None}
    running, killed = background(), background()
    assert set(platform.webhooks) == {99, 1, 2}
    killed.kill()
    killed.wait()

    run()

    assert set(platform.webhooks) == {99, 1}
    assert "deleted what an earlier listen had left: webhook 2" in capsys.readouterr().err
    running.send_signal(signal.SIGTERM)
    assert running.wait(20) == 0
    assert set(platform.webhooks) == {99}


def test_print_secret_reuses_the_webhook_of_a_running_listen(
    platform: Platform, background: Any, run: Run, capsys: pytest.CaptureFixture[str]
) -> None:
    background()

    assert run("--print-secret") == 0
    assert capsys.readouterr().out == "secret-1\n"
    assert set(platform.webhooks) == {1}
    # No type 5 exists yet; the new one is kept for the next start.
    assert run("--print-secret", "--type", "5", "3", "1") == 0
    assert capsys.readouterr().out == "secret-1\nsecret-3\n"
    assert {id: each["type_id"] for id, each in platform.webhooks.items()} == {1: 3, 2: 1, 3: 5}


def test_print_secret_ignores_the_listen_of_another_token(
    platform: Platform,
    background: Any,
    run: Run,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    background()
    monkeypatch.setenv("PARCELDESK_TOKEN", "test_another")

    assert run("--print-secret") == 0

    assert capsys.readouterr().out == "secret-2\n"


def test_leaves_alone_what_another_token_left(
    platform: Platform, background: Any, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    process = background()
    process.kill()
    process.wait()

    monkeypatch.setenv("PARCELDESK_TOKEN", "test_another")
    run()
    assert set(platform.webhooks) == {1}
    monkeypatch.setenv("PARCELDESK_TOKEN", TOKEN)
    run()
    assert platform.webhooks == {}


def test_a_webhook_whose_answer_got_lost_is_found_by_its_key(
    platform: Platform, run: Run, capsys: pytest.CaptureFixture[str]
) -> None:
    def lose(request: Any) -> Response:
        answer = platform.play(request)
        lost = request.line == "POST /webhooks"
        return Response(0) if lost else answer

    platform.answer = lose
    assert run() == 1
    assert "the webhooks are not deleted yet" in capsys.readouterr().err
    assert set(platform.webhooks) == {1}

    platform.answer = platform.play
    run()

    keys = [each.headers["Idempotency-Key"] for each in platform.requests if each.method == "POST"]
    assert len(set(keys)) == 2
    assert platform.webhooks == {}


def test_kept_webhooks_go_on_where_they_were_with_their_secret(
    platform: Platform, receiver: Receiver, run: Run, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run("--print-secret") == 0
    assert capsys.readouterr().out == "secret-1\n"
    platform.happen()
    run("--forward", receiver.url, "--keep")
    platform.happen()
    run("--forward", receiver.url, "--type", "5")
    assert set(platform.webhooks) == {1}

    run("--forward", receiver.url)

    assert numbers(receiver) == ["0", "1"]
    assert "signing secret secret-1" in capsys.readouterr().out
    assert platform.webhooks == {}


def test_clean_up_deletes_what_was_kept(platform: Platform, run: Run) -> None:
    run("--print-secret")
    assert run("--clean-up") == 0
    assert platform.webhooks == {}


def test_a_kept_webhook_that_is_gone_is_made_anew(
    platform: Platform, run: Run, capsys: pytest.CaptureFixture[str]
) -> None:
    run("--print-secret")
    platform.webhooks.clear()

    run("--print-secret")

    assert capsys.readouterr().out == "secret-1\nsecret-2\n"


# Messages to the user


@pytest.mark.parametrize(
    ("arguments", "variables", "message"),
    [
        ([], {}, "where to? add --forward"),
        (["--forward", "x"], {"PARCELDESK_TOKEN": ""}, "no token; set PARCELDESK_TOKEN"),
        (["--forward", "http://x"], {"PARCELDESK_TOKEN": "live_1"}, "this is a live token"),
        (["--forward", "http://x", "--token", "test_…"], {}, "copy it again"),
        (["--forward", "localhost:3000"], {}, "--forward is to be like http://localhost:3000"),
        (["--forward", "http://x", "--url", "x"], {}, "--url is to be like"),
        (["--forward", "http://x", "--header", "Bearer"], {}, "--header is to be like"),
        (["--forward", "http://x", "--type", "6"], {}, "there is no event type 6; there are 1 on"),
        (
            ["--forward", "http://x", "--url", "http://127.0.0.1:1"],
            {},
            "Does the service run there",
        ),
    ],
)
def test_wrong_arguments_are_explained(
    platform: Platform,
    naps: list[float],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    arguments: list[str],
    variables: dict[str, str],
    message: str,
) -> None:
    for name, value in variables.items():
        monkeypatch.setenv(name, value)

    assert listen.main(arguments) == 1
    assert message in capsys.readouterr().err
    assert platform.webhooks == {}


@pytest.mark.parametrize(
    ("line", "answer", "message"),
    [
        ("GET /webhook-types", Response(401, {"message": "Unknown."}), "Is the token whole"),
        (
            "GET /webhook-types",
            Response(301, {}, {"Location": "https://x"}),
            "it is now at https://x",
        ),
        (
            "POST /webhooks",
            Response(422, {"message": "You have 100 webhooks.", "code": "webhook_limit"}),
            "You have 100 webhooks. DELETE /webhooks/ID deletes one; without a URL are 99",
        ),
        ("POST /webhooks", Response(400, {"message": "url: null."}), "answered 400: url: null."),
        ("GET /webhooks/1/events?limit=20", Response(404, {}), "has been deleted elsewhere"),
        ("GET /webhooks/1/events?limit=20", Response(401, {}), "Is the token whole"),
    ],
)
def test_refusals_of_the_service_are_explained(
    platform: Platform,
    run: Run,
    capsys: pytest.CaptureFixture[str],
    line: str,
    answer: Response,
    message: str,
) -> None:
    platform.webhooks[99] = {"id": 99, "type_id": 3, "url": None}
    platform.answer = lambda request: answer if request.line == line else platform.play(request)

    assert run() == 1
    assert message in capsys.readouterr().err
    assert set(platform.webhooks) == {99}
