"""Debian's Chromium, driven through Playwright by short methods that read well in tests."""

import os
import re
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

from axe_playwright_python.sync_playwright import Axe
from django.conf import settings
from django.test import Client
from playwright.sync_api import Browser, BrowserContext, Page, TimeoutError, sync_playwright

QUIETLY = (
    "--headless",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
# Playwright sets most of these itself, and Chromium obeys only the last list. The added features
# draw the list below the address bar as two pages per window: half of what a window costs.
WITHOUT = (
    "AimEnabled",
    "AvoidCorsURLLoaderRestartOnRedirect",
    "AvoidUnnecessaryBeforeUnloadCheckSync",
    "DestroyProfileOnBrowserClose",
    "HttpsFirstBalancedModeAutoEnable",
    "HttpsUpgrades",
    "LensOverlay",
    "MediaRouter",
    "NetworkTimeServiceQuerying",
    "OptimizationHints",
    "PaintHolding",
    "PreconnectToSearch",
    "ThirdPartyStoragePartitioning",
    "WebUIOmniboxAimPopup",
    "WebUIOmniboxFullPopup",
    "WebUIOmniboxPopup",
)
# Wait long enough for a busy machine: only something broken takes this long.
PATIENCE_MS = 120_000
LEVELS = ("wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa")

Answer = TypeVar("Answer")


class Chromium:
    """One browser shared by many tests, in a thread of its own.

    Playwright keeps an event loop running in the thread that it is used from, and Django refuses
    its database to such a thread.
    """

    def __init__(self, program: str) -> None:
        self.program = program
        self.thread = ThreadPoolExecutor(1, thread_name_prefix="chromium")
        self.playwright, self.browser = self.do(self.start)

    def start(self) -> tuple[Any, Browser]:
        root = ("--no-sandbox",) if os.geteuid() == 0 else ()
        # By default Playwright creates a temporary profile and removes it when the browser closes.
        playwright = sync_playwright().start()
        return playwright, playwright.chromium.launch(
            executable_path=self.program,
            args=[*QUIETLY, f"--disable-features={','.join(WITHOUT)}", *root],
        )

    def do(self, work: Callable[..., Answer], *args: Any, **kwargs: Any) -> Answer:
        return self.thread.submit(work, *args, **kwargs).result()

    def stop(self) -> None:
        self.do(self.browser.close)
        self.do(self.playwright.stop)
        self.thread.shutdown()

    @contextmanager
    def tab(self, base: str, **options: Any) -> Iterator["Tab"]:
        """Open a window without cookies or stored data on the service at `base`."""
        context = self.do(self.browser.new_context, base_url=base, **options)
        try:
            yield Tab(self, context, base)
        finally:
            # Close the window before the test's rows are deleted, so that no request is on its way.
            self.do(context.close)


class Tab:
    """A page whose methods wait for visible content, never for a fixed time."""

    def __init__(self, chromium: Chromium, context: BrowserContext, base: str) -> None:
        self.chromium = chromium
        self.base = base
        self.context = context
        # Errors in the console: failed scripts, violations of the content security policy, etc.
        self.complaints: list[str] = []
        self.expected: tuple[str, ...] = ()
        self.page: Page = chromium.do(self.open)

    def open(self) -> Page:
        self.context.set_default_timeout(PATIENCE_MS)
        page = self.context.new_page()
        page.on("console", lambda message: message.type == "error" and self.complain(message.text))
        page.on("pageerror", lambda error: self.complain(str(error)))
        return page

    def complain(self, text: str) -> None:
        if not any(word in text for word in self.expected):
            self.complaints.append(f"{self.page.url}: {text}")

    def expects(self, *words: str) -> None:
        """Ignore complaints that contain one of these words from here on, however late."""
        self.expected = words

    def refused(self) -> None:
        """Take the 409 of the last form off the list of complaints.

        The browser complains once more where a script's form is shown on a page of its own.
        """
        assert self.complaints.pop().endswith("409 (Conflict)")
        while self.complaints and self.complaints[-1].endswith("409 (Conflict)"):
            self.complaints.pop()

    def do(self, work: Callable[[Page], Answer]) -> Answer:
        """Work on the page once its scripts have run; before, it ignores keys and clicks."""

        def work_when_ready(page: Page) -> Answer:
            page.wait_for_load_state("domcontentloaded")
            return work(page)

        return self.chromium.do(work_when_ready, self.page)

    def sign_in(self, client: Client) -> None:
        """Take over the session of the test's client."""
        name = settings.SESSION_COOKIE_NAME
        cookie = {"name": name, "value": client.cookies[name].value, "url": self.base}
        self.chromium.do(self.context.add_cookies, [cookie])

    def visit(self, address: str) -> int:
        return self.do(lambda page: page.goto(address).status)

    def theme(self, name: str) -> None:
        """Emulate a system with a light or dark theme, from the next page on."""
        looks = {"color_scheme": name, "reduced_motion": "reduce"}
        self.do(lambda page: page.emulate_media(**looks))

    def reload(self) -> None:
        self.do(lambda page: page.reload())

    def press(self, *keys: str) -> None:
        """Press keys one after the other: a letter, or a name such as Enter or Control+Enter."""
        self.do(lambda page: [page.keyboard.press(key) for key in keys])

    def leave_by(self, *keys: str) -> None:
        """Press keys that load another page, or reload this one, and wait for it."""

        def leave(page: Page) -> None:
            with page.expect_navigation(wait_until="domcontentloaded"):
                for key in keys:
                    page.keyboard.press(key)

        self.do(leave)

    def type(self, text: str) -> None:
        self.do(lambda page: page.keyboard.type(text))

    def sees(self, selector: str, words: str = "") -> str:
        """Wait until the element is visible and contains these words; return its text."""

        def look(page: Page) -> str:
            locator = page.locator(selector)
            locator = locator.filter(has_text=words).first if words else locator.first
            locator.wait_for(state="visible")
            return locator.inner_text()

        return self.do(look)

    def misses(self, selector: str) -> None:
        """Wait until no such element is visible."""
        self.do(lambda page: page.locator(selector).first.wait_for(state="hidden"))

    def wait_for(self, script: str, arg: Any = None) -> None:
        """Wait until a script returns a true value; fail with the state of the page."""
        state = "() => [document.activeElement?.outerHTML, document.hidden, document.readyState]"

        def look(page: Page) -> None:
            try:
                # By a timer: a browser on a busy machine may draw no frames for minutes.
                page.wait_for_function(script, arg=arg, polling=100)
            except TimeoutError as error:
                # Unlike evaluate, this gives up where the page answers nothing any more.
                found = page.wait_for_function(state, polling=100, timeout=5000).json_value()
                raise AssertionError(f"{script}, {arg}, at {page.url}: {found}") from error

        self.do(look)

    def focused(self, selector: str) -> None:
        """Wait until this element has the focus."""
        self.wait_for("selector => document.activeElement?.matches(selector)", selector)

    def value(self, selector: str) -> str:
        return self.do(lambda page: page.locator(selector).input_value())

    def tab_to(self, selector: str) -> None:
        """Move the focus to an element with the Tab key, without a mouse."""
        matches = "selector => document.activeElement?.matches(selector) ?? false"

        def go(page: Page) -> None:
            for _ in range(200):
                page.keyboard.press("Tab")
                if page.evaluate(matches, selector):
                    return
            raise AssertionError(f"Tab never comes to {selector}.")

        self.do(go)

    def picture(self, file: Path) -> None:
        """Return a screenshot as a PNG, with animations stopped."""
        self.do(lambda page: page.evaluate("document.fonts.ready.then(() => true)"))
        self.do(lambda page: page.screenshot(path=file, animations="disabled", caret="hide"))

    @property
    def url(self) -> str:
        return self.do(lambda page: page.url)

    @property
    def ticket(self) -> int:
        """Return the id of the ticket whose page is open."""
        return int(re.search(r"/tickets/ticket/(\d+)/", self.url)[1])

    def violations(self, **options: Any) -> list[str]:
        """Return what axe finds against WCAG, levels A and AA: rule, place and reason."""
        defaults = {"runOnly": {"type": "tag", "values": LEVELS}, "resultTypes": ["violations"]}
        result = self.do(lambda page: Axe().run(page, options={**defaults, **options}))
        return [
            f"{rule['id']}: {node['target']} {node['html'][:150]}: {node['failureSummary']}"
            for rule in result.response["violations"]
            for node in rule["nodes"]
        ]
