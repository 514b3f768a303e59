"""List of the documents at /docs/guides, and the values that are inserted into them."""

import posixpath
from functools import cache
from pathlib import Path
from typing import NamedTuple

from django.conf import settings
from django.urls import reverse

from config.guides.rendering import Rendered, render_document

DOCS: Path = settings.BASE_DIR / "docs"
CLIENTS: Path = settings.BASE_DIR / "clients"
LANGUAGES = {".go", ".js", ".php", ".py", ".rb"}
# File and purpose of each guide, in the order of the index.
GUIDES = {
    "quickstart.md": "From a token to the first verified webhook on your machine, in a minute.",
    "guides/tickets.md": "The life of a ticket, from opening it to rating the decision.",
    "guides/day.md": "A ticket that is declined, appealed and accepted, with curl.",
    "guides/webhooks.md": "Get notified of events instead of polling.",
    "guides/page.md": "A button that opens tickets and webhooks to your people, without a program.",
    "guides/trying.md": "Play the carrier and the agent, and test your receiver.",
    "operations/feed.md": "The fields of the platform's feed, which the sandbox accepts too.",
    "receiving.md": "Payloads, signatures, retries, and what to do when nothing arrives.",
    "errors.md": "Every error code, and what to do.",
    "schema-limits.md": "Requests that are rejected although the schema allows them, and why.",
    "guides/order.md": "The order of events and lists, and how to deduplicate.",
    "guides/limits.md": "Every limit, and what happens beyond it.",
    "guides/addresses.md": "Where our requests come from, and how to allow them.",
    "guides/retention.md": "How long data is kept.",
    "api.md": "Every endpoint on one page.",
    "../clients/README.md": "Programs to run and to copy: listen, verify, receivers, a client.",
    "guides/changelog.md": "Changes of the API and of webhooks.",
}
# Placeholder for the list of SENDER_ADDRESSES.
ADDRESSES = "<!-- sender addresses -->"
NO_ADDRESSES = (
    "**The operator of this service has not named its addresses.** Ask before you rely on any."
)


class GuidePage(NamedTuple):
    slug: str
    about: str
    page: Rendered


@cache
def guides() -> dict[str, GuidePage]:
    """Return every guide by its slug, rendered once per process."""
    return {
        slug_of(file): GuidePage(slug_of(file), about, rendered(file))
        for file, about in GUIDES.items()
    }


@cache
def client_files() -> dict[str, Path]:
    """Return the programs in clients/ by their paths there."""
    files = (file for file in sorted(CLIENTS.rglob("*")) if file.suffix in LANGUAGES)
    return {file.relative_to(CLIENTS).as_posix(): file for file in files}


def slug_of(file: str) -> str:
    folder, name = posixpath.split(file.removesuffix(".md"))
    return posixpath.basename(folder) if name == "README" else name


def rendered(file: str) -> Rendered:
    text = (DOCS / file).read_text(encoding="utf-8")
    return render_document(
        text.replace(ADDRESSES, sender_addresses()), lambda to: address_of(file, to)
    )


def sender_addresses() -> str:
    if not settings.SENDER_ADDRESSES:
        return NO_ADDRESSES
    lines = (network_text(network) for network in settings.SENDER_ADDRESSES)
    return "\n".join(["```text", *lines, "```"])


def network_text(network: object) -> str:
    """Return a network in CIDR notation; one of a single address as that address."""
    return str(network).removesuffix("/32").removesuffix("/128")


def address_of(file: str, target: str) -> str | None:
    """Return the address of a document's link on the pages; None if the pages do not have it."""
    if "://" in target or target.startswith("#"):
        return target
    path, _, fragment = target.partition("#")
    other = posixpath.normpath(posixpath.join("docs", posixpath.dirname(file), path))
    program = other.removeprefix("clients/")
    if program != other and program in client_files():
        return reverse("client-file", args=[program])
    other = posixpath.relpath(other, "docs")
    if other not in GUIDES:
        return None
    return reverse("guide", args=[slug_of(other)]) + (f"#{fragment}" if fragment else "")
