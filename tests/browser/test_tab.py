"""A tab waits for what a person would: keys go to a page that can hear them."""

import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from tests.browser.chromium import Chromium

PAGE = b"<!doctype html><p>Ready?</p><i></i><script src='/late.js' defer></script>"
LATE = b"onkeydown = event => { document.querySelector('i').textContent += event.key }"


class Late(BaseHTTPRequestHandler):
    """A page whose script comes a second after it."""

    def do_GET(self) -> None:
        script = self.path == "/late.js"
        if script:
            threading.Event().wait(1)
        self.send_response(200)
        self.send_header("Content-Type", "text/javascript" if script else "text/html")
        self.end_headers()
        self.wfile.write(LATE if script else PAGE if self.path == "/" else b"")

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@pytest.fixture
def late_script() -> Iterator[str]:
    with ThreadingHTTPServer(("127.0.0.1", 0), Late) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()


def test_a_key_waits_for_the_scripts_of_a_page_that_is_seen(
    chromium: Chromium, late_script: str
) -> None:
    with chromium.tab(late_script) as tab:
        # A page that a form leads to is seen in the same way before all of it has loaded.
        tab.do(lambda page: page.goto("/", wait_until="commit"))
        tab.sees("p", "Ready?")
        tab.press("m")
        assert tab.sees("i", "m") == "m"
