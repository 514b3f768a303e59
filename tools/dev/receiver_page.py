"""Receiver's page as HTML. Everything from the network is escaped."""

import base64
import hashlib
import json
from html import escape
from pathlib import Path
from string import Template
from typing import Any

TEMPLATE = Template(Path(__file__).with_name("receiver.html").read_text())
SCRIPT = TEMPLATE.template.partition("<script>")[2].partition("</script>")[0]
DIGEST = base64.b64encode(hashlib.sha256(SCRIPT.encode()).digest()).decode()
# Allows only the page's own scripts, so that a body that slipped through as markup cannot run.
POLICY = (
    "default-src 'none'; style-src 'unsafe-inline'; img-src data:; connect-src 'self'; "
    f"script-src 'sha256-{DIGEST}'"
)
MARKS = {"verified": "✓", "unsigned": "○", "bad signature": "✗"}
EMPTY = '<p class="empty">Nothing has arrived yet. Webhooks that are sent here appear at once.</p>'


def page(latest_first: list[dict[str, Any]]) -> str:
    return TEMPLATE.substitute(deliveries=deliveries(latest_first))


def deliveries(latest_first: list[dict[str, Any]]) -> str:
    """Render the list alone, which the page polls."""
    count = latest_first[0]["number"] if latest_first else 0
    items = "".join(map(item, latest_first)) or EMPTY
    return f'<div id="deliveries" data-count="{count}">{items}</div>'


def item(delivery: dict[str, Any]) -> str:
    headers, verdict = delivery["headers"], delivery["verdict"]
    name = headers.get("x-webhook-event") or "unnamed (a legacy type)"
    rows = "".join(
        f"<tr><th scope=row>{escape(key)}</th><td>{escape(value)}</td></tr>"
        for key, value in sorted(headers.items(), key=lambda pair: not pair[0].startswith("x-"))
    )
    time = escape(delivery["received_at"])
    return (
        f'<article class="{escape(verdict).replace(" ", "-")}">'
        f'<h2><span class="verdict">{MARKS[verdict]} {escape(verdict)}</span>'
        f" {escape(name)}</h2>"
        f'<p class="where">no. {delivery["number"]} · '
        f'<time datetime="{time}">{time[11:19]} UTC</time> · POST {escape(delivery["path"])}</p>'
        f"<pre>{escape(readable(delivery['body']))}</pre>"
        f'<details id="headers-{delivery["number"]}"><summary>{len(headers)} headers</summary>'
        f"<table>{rows}</table></details></article>"
    )


def readable(body: str) -> str:
    """Indent JSON; return anything else unchanged."""
    try:
        return json.dumps(json.loads(body), indent=2, ensure_ascii=False)
    except (ValueError, RecursionError):
        return body
