"""A crawler for the desk's pages, and a parser for the texts that people see there."""

import re
from collections.abc import Iterator
from html.parser import HTMLParser
from urllib.parse import urljoin, urlsplit

from django.contrib import admin
from django.test import Client
from django.urls import resolve, reverse

# Elements without an end tag, and elements whose text nobody reads.
VOID = {"area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "wbr"}
UNREAD = {"script", "style", "template", "noscript", "bdi", "textarea", "pre", "code"}
READ_ATTRIBUTES = ("aria-label", "title", "placeholder", "alt", "data-label")
ICON = "material-symbols-outlined"
# Pages of one kind differ by their rows only: two of each address and query are enough.
MOST_OF_A_KIND = 1


class Page(HTMLParser):
    """Texts, links and ids of a page."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.texts: list[str] = []
        self.links: list[str] = []
        self.ids: list[str] = []
        self.labels: list[str] = []
        self.tags: list[str] = []
        self.open: list[tuple[str, bool]] = []
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        fields = {name: value or "" for name, value in attrs}
        self.tags.append(tag)
        # Skip text in <bdi>, which came from outside, and in elements with a language of their own.
        foreign = tag in UNREAD | {"bdi", "textarea", "pre", "code"} or ICON in fields.get(
            "class", ""
        )
        quiet = (
            foreign or (tag != "html" and "lang" in fields) or any(mute for _, mute in self.open)
        )
        if tag not in VOID:
            self.open.append((tag, quiet))
        if tag == "a" and "href" in fields:
            self.links.append(fields["href"])
        if "id" in fields and not any(name == "template" for name, _ in self.open):
            self.ids.append(fields["id"])
        if tag == "label" and "for" in fields:
            self.labels.append(fields["for"])
        if not quiet:
            self.texts += [fields[name] for name in READ_ATTRIBUTES if fields.get(name, "").strip()]
        if tag == "input" and fields.get("type") in ("submit", "button"):
            self.texts.append(fields.get("value", ""))

    def handle_endtag(self, tag: str) -> None:
        while any(name == tag for name, _ in self.open):
            if self.open.pop()[0] == tag:
                return

    def handle_data(self, data: str) -> None:
        if data.strip() and not any(quiet for _, quiet in self.open):
            self.texts.append(" ".join(data.split()))


# Query parameters that make another kind of page; all others only narrow its rows.
TELLING = {"queue", "figure", "rows", "before"}


def starts() -> Iterator[str]:
    yield from ("/admin/", "/admin/first-run/", "/admin/agents/add/", "/admin/password_change/")
    for model in admin.site._registry:
        name = f"admin:{model._meta.app_label}_{model._meta.model_name}"
        yield reverse(f"{name}_changelist")
        yield reverse(f"{name}_add")
        for row in model._default_manager.all()[:1]:
            for page in ("change", "history", "delete"):
                yield reverse(f"{name}_{page}", args=[row.pk])


def kind(address: str) -> tuple[str, ...]:
    parts = urlsplit(address)
    names = re.findall(r"(?:^|&)([^=&]+)", parts.query)
    return (resolve(parts.path).route, *(name for name in names if name in TELLING))


def crawl(client: Client, *further: str) -> dict[str, Page]:
    """Return every page under /admin/ that opens without a form, a few of each kind."""
    waiting, pages, count = [*further, *starts()], {}, {}
    while waiting:
        address = waiting.pop(0)
        if address in pages or count.get(kind(address), 0) >= MOST_OF_A_KIND:
            continue
        answer = client.get(address)
        if answer.status_code in (301, 302):
            waiting.append(urljoin(address, answer["Location"]))
            continue
        if not answer.get("Content-Type", "").startswith("text/html"):
            continue
        count[kind(address)] = count.get(kind(address), 0) + 1
        page = pages[address] = Page(answer.content.decode())
        page.status = answer.status_code
        for link in page.links:
            target = urljoin(address, link).split("#")[0]
            if target.startswith("/admin/") and "logout" not in target:
                waiting.append(target)
    return pages
