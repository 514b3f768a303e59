"""The web process with the Procfile's options, and malformed requests besides well-formed ones."""

import base64
import http.client
import json
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.contrib.staticfiles import finders
from pytest_django import DjangoDbBlocker

from companies import services
from portal import access
from tests import builders as build
from tests.config.web import running
from webhooks.models import Webhook

POST = b"POST /webhooks HTTP/1.1\r\nHost: localhost\r\n"
GET = b"GET /webhooks HTTP/1.1\r\nHost: localhost\r\n"


@pytest.fixture(scope="module")
def port(
    django_db_setup: None,
    django_db_blocker: DjangoDbBlocker,
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[int]:
    with running(tmp_path_factory.mktemp("web"), "config.wsgi") as web:
        yield web.port


def exchange(port: int, raw: bytes) -> http.client.HTTPResponse:
    with socket.create_connection(("127.0.0.1", port), timeout=30) as connection:
        connection.sendall(raw)
        answer = http.client.HTTPResponse(connection)
        answer.begin()
        answer.text = answer.read().decode()
    return answer


@pytest.mark.parametrize(
    ("status", "raw"),
    [
        pytest.param(400, POST + b"Content-Length: 2\r\n" * 2 + b"\r\n{}", id="two lengths"),
        pytest.param(400, b"GET /webhooks HTTP/1.1\r\n\r\n", id="no Host"),
        pytest.param(400, b"GET /healthz HTTP/1.1\r\n\r\n", id="no Host for a probe"),
        pytest.param(400, GET + b"Host: localhost\r\n\r\n", id="two Hosts"),
        pytest.param(400, POST + b"Content-Length: 2\r\nHost: a\r\n\r\n{}", id="two, body"),
        pytest.param(401, b"GET /webhooks HTTP/1.0\r\n\r\n", id="HTTP/1.0 needs no Host"),
        pytest.param(400, POST + b"Content-Length: -1\r\n\r\n", id="negative length"),
        pytest.param(
            400,
            POST + b"Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
            id="length and chunks",
        ),
        pytest.param(400, POST + b"Transfer-Encoding: nothing\r\n\r\n", id="unknown coding"),
        pytest.param(
            400, POST + b"Transfer-Encoding: chunked\r\n\r\nzz\r\n{}\r\n", id="chunk without size"
        ),
        pytest.param(417, POST + b"Expect: tea\r\nContent-Length: 2\r\n\r\n{}", id="expects tea"),
        pytest.param(400, GET + b"Host: other\r\n\r\n", id="two hosts"),
        pytest.param(400, GET + b"X: a\0b\r\n\r\n", id="NUL in a header"),
        pytest.param(400, GET + b"X: 1\r\n folded\r\n\r\n", id="folded header"),
        pytest.param(400, GET + b"no colon\r\n\r\n", id="header without colon"),
        pytest.param(431, GET + b"X: " + b"a" * 9000 + b"\r\n\r\n", id="header of 9 KB"),
        pytest.param(431, GET + b"X: " + b"a" * 10**6 + b"\r\n\r\n", id="header of 1 MB"),
        pytest.param(431, GET + b"X: 1\r\n" * 200 + b"\r\n", id="200 headers"),
        pytest.param(
            414, b"GET /" + b"a" * 9000 + b" HTTP/1.1\r\nHost: localhost\r\n\r\n", id="long address"
        ),
        pytest.param(400, b"get /webhooks HTTP/1.1\r\nHost: localhost\r\n\r\n", id="lower case"),
        pytest.param(400, b"GET /web hooks HTTP/1.1\r\nHost: localhost\r\n\r\n", id="space"),
        pytest.param(400, b"GET /webhooks HTTP/2.0\r\nHost: localhost\r\n\r\n", id="HTTP/2"),
        pytest.param(400, GET + b"Host: a b\r\n\r\n", id="host of two words"),
        pytest.param(401, GET + b"SCRIPT_NAME: /x\r\nPATH_INFO: /y\r\n\r\n", id="CGI's names"),
        pytest.param(401, GET + b"Range: bytes=0-1\r\nUpgrade: h2c\r\n\r\n", id="wishes"),
        pytest.param(403, b"POST /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n", id="no form"),
    ],
)
def test_answers_broken_requests_in_json(port: int, status: int, raw: bytes) -> None:
    answer = exchange(port, raw)

    assert answer.status == status
    assert answer.headers["Content-Type"] == "application/json"
    assert json.loads(answer.text)["statusCode"] == status
    assert len(answer.headers["X-Request-Id"]) == 32


def test_a_refusal_before_the_application_names_the_request_of_the_client(port: int) -> None:
    answer = exchange(
        port, POST + b"X-Request-Id: mine-7\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n{}\r\n"
    )

    assert (answer.status, answer.headers["X-Request-Id"]) == (400, "mine-7")
    assert json.loads(answer.text)["code"] == "malformed_request"


def test_a_client_that_sends_20_mb_gets_to_read_why_not(port: int) -> None:
    """Let it finish: most clients send all of it first and must not find the connection reset."""
    client = http.client.HTTPConnection("127.0.0.1", port, timeout=30)

    client.request("POST", "/webhooks", body=b" " * 20 * 1024 * 1024)
    answer = client.getresponse()

    assert answer.status == 401
    assert json.loads(answer.read())["statusCode"] == 401
    client.close()


def test_sends_files_whole(port: int) -> None:
    path = "drf_spectacular_sidecar/swagger-ui-dist/swagger-ui-bundle.js"

    answer = exchange(port, f"GET /static/{path} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())

    assert answer.status == 200
    assert answer.text == Path(finders.find(path)).read_text()


def test_a_form_with_files_is_as_bounded_as_any_body(port: int) -> None:
    """Bound it early: Django counts no files in its limit, and parses before it authenticates."""
    form = b"--x\r\nContent-Disposition: form-data; name=a; filename=b\r\n\r\n" + b"a" * 10**6
    head = b"POST /admin/login/ HTTP/1.1\r\nHost: localhost\r\nContent-Length: %d\r\n" % len(form)
    head += b"Cookie: csrftoken=" + b"a" * 32 + b"\r\n"

    answer = exchange(port, head + b"Content-Type: multipart/form-data; boundary=x\r\n\r\n" + form)

    assert answer.status == 413
    assert json.loads(answer.text)["message"] == "The body is too large."


@pytest.mark.usefixtures("rows_to_keep")
def test_a_form_too_large_for_the_company_s_page_is_refused_in_words(
    port: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("django.conf.settings.PUBLIC_URL", "http://localhost")
    ticket = build.ticket(build.company())
    secret = access.link_to(ticket).rpartition("/")[2]
    head = (
        f"POST /c/tickets/{ticket.pk}/answer HTTP/1.1\r\nHost: localhost\r\n"
        f"Cookie: page_ticket_{ticket.pk}={secret}\r\n"
    ).encode()

    kinds = (b"application/x-www-form-urlencoded", b"multipart/form-data; boundary=x")
    for kind in kinds:
        own = b"Content-Type: %s\r\nContent-Length: %d\r\n\r\n" % (kind, 17 * 2**20)
        answer = exchange(port, head + own + b"a" * 17 * 2**20)
        assert answer.status == 413, answer.text
        assert "<h1>Too much at a time</h1>" in answer.text


@pytest.mark.usefixtures("rows_to_keep")
def test_reads_a_chunked_body_and_refuses_one_that_is_too_large(port: int) -> None:
    company = build.company()
    token = services.issue_token(company.pk)
    client = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
    headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
    body = b'{"url":"https://hooks.example.com/in"}'

    def chunked(*parts: bytes) -> int:
        client.request("POST", "/webhooks", iter(parts), headers, encode_chunked=True)
        answer = client.getresponse()
        answer.read()
        return answer.status

    assert chunked(b" " * 2**20, body) == 413
    assert not Webhook.objects.exists()
    assert chunked(b" " * 2**19, body[:9], body[9:]) == 200
    assert Webhook.objects.get().url == "https://hooks.example.com/in"
    client.close()


@pytest.mark.usefixtures("rows_to_keep")
def test_lets_the_platform_s_feed_be_larger_than_other_bodies(port: int) -> None:
    lines = (b" " * 60_000 + b"\n") * 35
    head = b"POST /platform/feed HTTP/1.1\r\nHost: localhost\r\n"
    head += b"Content-Type: application/x-ndjson\r\n"

    def status_of(token: str, body: bytes) -> int:
        header = b"Authorization: Bearer %s\r\n" % token.encode()
        length = b"Content-Length: %d\r\n\r\n" % len(body)
        return exchange(port, head + header + length + body).status

    platform = services.issue_platform_token()
    assert status_of(platform, lines) == 200
    assert status_of(platform, lines * 9) == 413
    assert status_of(services.issue_token(build.company().pk), lines) == 401


@pytest.mark.usefixtures("rows_to_keep")
def test_a_body_with_a_file_may_be_larger_and_no_other(port: int) -> None:
    company = build.company()
    headers = {
        "Authorization": f"Bearer {services.issue_token(company.pk)}",
        "Content-Type": "application/json",
    }
    client = http.client.HTTPConnection("127.0.0.1", port, timeout=30)

    def answered(path: str, mib: int) -> tuple[int, str | None]:
        words = base64.b64encode(b"just words " * (mib * 2**20 // 16)).decode()
        client.request("POST", path, json.dumps({"name": "a", "content_base64": words}), headers)
        answer = client.getresponse()
        return answer.status, json.loads(answer.read()).get("code")

    files = f"/company/tickets/{build.ticket(company).pk}/files"
    assert answered(files, 2) == (415, "file_type_not_allowed")
    assert answered("/company/upload/evidences", 2) == (415, "file_type_not_allowed")
    assert answered("/company/tickets", 2)[0] == 413
    assert answered(files, 17)[0] == 413
    client.close()
