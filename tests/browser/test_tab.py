"""A tab waits as a person would: keys go to a page that can react to them."""

import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from tests.browser.chromium import Chromium

PAGE = b"<!doctype html><p>Ready?</p><i></i><script src='/late.js' defer></script>"
LATE = b"onkeydown = event => { document.querySelector('i').textContent += event.key }"


class Late(BaseHTTPRequestHandler):
    """Handler of a page whose script comes a second later."""

    def do_GET(self) -> None:
        script = self.path == "/late.js"
        if script:
            threading.Event().wait(1)
        self.send_response(200)
        self.send_header("Content-Type", "text/javascript" if script else "text/html")
        self.end_headers()
        self.wfile.write(LATE if script else PAGE if self.path == "/" else b"")

    def log_message(self, *_: object) -> None:
        """Suppress the log."""


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
        # The page after a form is visible in the same way before all of it has loaded.
        tab.do(lambda page: page.goto("/", wait_until="commit"))
        tab.sees("p", "Ready?")
        tab.press("m")
        assert tab.sees("i", "m") == "m"
