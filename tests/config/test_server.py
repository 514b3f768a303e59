"""The web process as the Procfile starts it: what is sent to it beside well-formed requests."""

import http.client
import json
import socket
import time
from collections.abc import Iterator
from io import BytesIO

import pytest
from django.test import RequestFactory

from companies import services
from companies.models import Company
from config.wsgi import application
from faults.ports import free_port
from faults.service import Service
from tests import builders as build
from webhooks.models import Webhook

POST = b"POST /webhooks HTTP/1.1\r\nHost: localhost\r\n"
GET = b"GET /webhooks HTTP/1.1\r\nHost: localhost\r\n"


@pytest.fixture(scope="module")
def port(tmp_path_factory: pytest.TempPathFactory) -> Iterator[int]:
    """Of a web process. None of its requests has a token, so none needs the database."""
    port = free_port()
    environment = {
        "DJANGO_SETTINGS_MODULE": "config.settings",
        "BIND": "127.0.0.1",
        "PORT": str(port),
        "WEB_CONCURRENCY": "1",
        "ALLOWED_HOSTS": "*",
    }
    with Service(environment, tmp_path_factory.mktemp("web")) as service:
        service.start("web")
        wait_until_it_answers(port)
        yield port


def wait_until_it_answers(port: int) -> None:
    for _ in range(300):
        try:
            with socket.create_connection(("127.0.0.1", port)):
                return
        except OSError:
            time.sleep(0.1)
    raise TimeoutError("the web process does not come up")


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


def test_a_client_that_sends_20_mb_gets_to_read_why_not(port: int) -> None:
    """Most clients send all of it first: they must not find the connection reset."""
    client = http.client.HTTPConnection("127.0.0.1", port, timeout=30)

    client.request("POST", "/webhooks", body=b" " * 20 * 1024 * 1024)
    answer = client.getresponse()

    assert answer.status == 401
    assert json.loads(answer.read())["statusCode"] == 401
    client.close()


def chunked(company: Company, body: bytes) -> int:
    """POST /webhooks as gunicorn hands over a chunked body: no length, and an end of input."""
    environ = RequestFactory().post("/webhooks", content_type="application/json").environ
    del environ["CONTENT_LENGTH"]
    token = services.issue_token(company.pk)
    statuses = []
    for_chunks = {
        "HTTP_AUTHORIZATION": f"Bearer {token}",
        "HTTP_TRANSFER_ENCODING": "chunked",
        "wsgi.input": BytesIO(body),
        "wsgi.input_terminated": True,
    }
    application(environ | for_chunks, lambda status, headers: statuses.append(status))
    return int(statuses[0][:3])


@pytest.mark.usefixtures("rows_to_keep")
def test_reads_a_chunked_body_and_refuses_one_that_is_too_large() -> None:
    company = build.company()
    body = b'{"url":"https://hooks.example.com/in"}'

    assert chunked(company, b" " * 2**20 + body) == 413
    assert not Webhook.objects.exists()
    assert chunked(company, body) == 200
    assert Webhook.objects.get().url == "https://hooks.example.com/in"
