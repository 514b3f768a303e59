"""Pages that the desk bench measures, and the user of each."""

from collections.abc import Iterator
from datetime import timedelta
from typing import NamedTuple
from urllib.parse import urlencode

from django.contrib import admin
from django.contrib.auth.models import User
from django.urls import reverse
from django.utils import timezone

from companies.models import Company
from desk.queue.queues import QUEUES
from desk.reports.figures import SPANS
from tickets import agents
from tickets.models import Agent
from tools.bench import tickets

LIST = "admin:tickets_ticket_changelist"


class Page(NamedTuple):
    """Page to measure; `uncached` clears its counts, which are cached for a minute."""

    name: str
    address: str
    user: User
    uncached: bool = False


def pages(size: int) -> list[Page]:
    """Return the pages of a desk with `size` tickets."""
    lead = User.objects.get(username="agent007")
    lead.groups.add(agents.group("lead"))
    operator = User.objects.create_superuser("operator")
    address = reverse(LIST)
    lists = {
        **{f"queue {queue.title}": {"queue": queue.slug} for queue in QUEUES},
        **deeper(),
        **filtered(size),
        **{f"search {name}": {"q": term} for name, term in searched(size).items()},
    }
    return [
        *(Page(name, f"{address}?{urlencode(query)}", lead) for name, query in lists.items()),
        *(Page(name, where, lead) for name, where in single(size)),
        *(Page(name, where, lead) for name, where in around()),
        *(Page(name, where, lead, uncached=True) for name, where in figures()),
        *(Page(name, where, lead) for name, where in reports()),
        *(Page(f"{name}, not kept", where, lead, uncached=True) for name, where in reports()),
        *(Page(name, where, operator) for name, where in tables()),
    ]


def deeper() -> dict[str, dict[str, object]]:
    return {
        "All open, sorted by due": {"queue": "open", "o": "due"},
        "All open, sorted by filing": {"queue": "open", "o": "filing"},
        "Unassigned, sorted by due": {"queue": "unassigned", "o": "due"},
        "All open, last page": {"queue": "open", "p": 400},
        "Everything, last page": {"queue": "everything", "p": 400},
    }


def filtered(size: int) -> dict[str, dict[str, object]]:
    company = Company.objects.order_by("pk")[1].name
    everything = {
        "status": {"status": 3},
        "an open status": {"status": 10},
        "type": {"type": 4},
        "type that none has": {"type": 1},
        "agent": {"agent": "agent007"},
        "company": {"company": company},
        "carrier": {"carrier_name": "tardy"},
        "carrier that none has": {"carrier_name": "nobody"},
        "dates": {"opened_from": "2026-01-10", "opened_to": "2026-02-10"},
        "type, carrier and agent": {"type": 4, "carrier_name": "tardy", "agent": "agent007"},
        "status and carrier": {"status": 10, "carrier_name": "tardy"},
        "company and dates": {"company": company, "opened_from": "2026-01-10"},
    }
    return {
        **{f"Everything, {name}": {"queue": "everything", **q} for name, q in everything.items()},
        "All open, company": {"queue": "open", "company": company},
        "All open, agent": {"queue": "open", "agent": "agent007"},
        "All open, type that none has": {"queue": "open", "type": 1},
    }


def searched(size: int) -> dict[str, str]:
    return {
        "ticket or shipment": str(size // 2),
        "tracking number": f"TRACK{size // 4 * 2:09}",
        "company": "Company 17",
        "companies that begin so": "comp",
        "part of a company's name": "MPANY 17",
        "company with a wrong letter": "cimpany",
        "part of a tracking number": f"{size // 4 * 2:09}"[2:],
        "part that all tracking numbers have": "track",
        "order number": f"ALT-{size // 2 + 1}",
        "order number that none has": "ALT-0",
        "agent": "agent007",
        "beginning of half of the words": tickets.COMMON[:3],
        "beginning of a word of a few": tickets.RARE[:4],
        "phrase": f'"{tickets.COMMON} was glass"',
        "ten words": " ".join([tickets.COMMON, *tickets.WORDS]),
        "long nonsense": "a1" * 5_000,
        "word of half of them": tickets.COMMON,
        "word of a few": tickets.RARE,
        "word of none": "quagga",
        "two words": f"{tickets.COMMON} glass",
        "words, one of none": f"{tickets.COMMON} quagga",
    }


def single(size: int) -> Iterator[tuple[str, str]]:
    yield "one ticket, open", reverse("admin:tickets_ticket_change", args=[size - 1])
    for queue in ("open", "everything"):
        place = urlencode({"list": f"queue={queue}"})
        one = reverse("admin:tickets_ticket_change", args=[size - 1])
        yield f"one ticket of the list {queue}", f"{one}?{place}"
    yield "one ticket, decided", reverse("admin:tickets_ticket_change", args=[size // 2])
    names = reverse("admin:tickets_ticket_names")
    for what in ("company", "agent", "carrier"):
        yield f"names of a filter, {what}", f"{names}?what={what}&begin=c"
    picked = urlencode({"ticket": f"{size - 1}:2"})
    yield "dialog of a move", f"{reverse('admin:tickets_ticket_move', args=[6])}?{picked}"
    yield "dialog of giving", f"{reverse('admin:tickets_ticket_give')}?{picked}"
    events = reverse("admin:tickets_ticket_events")
    yield "why no event, by tracking number", f"{events}?tracking_number=TRACK{size // 4 * 2:09}"
    palette = reverse("admin:search")
    yield "palette (kept five minutes)", f"{palette}?s={tickets.COMMON}&extended=1"


def around() -> Iterator[tuple[str, str]]:
    """Yield pages around the tickets."""
    yield "company", reverse("admin:companies_company_change", args=[17])
    palette = reverse("desk_palette")
    for name, words in (("a name", "comp"), ("a command", "reports"), ("nothing yet", "")):
        yield f"palette, {name}", f"{palette}?{urlencode({'as': 'json', 'q': words})}"
    live = {"queue": "open", "since": 0, "notified": 0, "counted": "", "known": "", "shown": ""}
    yield "live, a page's first question", f"{reverse('desk_live')}?{urlencode(live)}"
    yield "live, one's own", reverse("desk_live_mine")
    for name in ("notifications", "automations", "first_run", "preferences", "add_agents"):
        yield name.replace("_", " "), reverse(f"desk_{name}")
    yield "new ticket", reverse("admin:tickets_ticket_new")


def tables() -> Iterator[tuple[str, str]]:
    yield (
        "form of a user",
        reverse("admin:auth_user_change", args=[User.objects.all()[:1].get().pk]),
    )
    yield (
        "form of an agent",
        reverse("admin:tickets_agent_change", args=[Agent.objects.all()[:1].get().pk]),
    )
    for model in sorted(admin.site._registry, key=lambda one: one._meta.label):
        name = f"admin:{model._meta.app_label}_{model._meta.model_name}_changelist"
        if name != LIST:
            yield f"list of {model._meta.verbose_name_plural}", reverse(name)


def figures() -> Iterator[tuple[str, str]]:
    """Yield the lead's front page and the pages it leads to."""
    front = reverse("admin:index")
    agent = Agent.objects.get(user__username="agent007").pk
    filters = {
        "all": {},
        "a type": {"type": 4},
        "an agent": {"agent": agent},
        "a carrier": {"carrier": "tardy"},
        "type and carrier": {"type": 4, "carrier": "tardy"},
        "type, carrier and agent": {"type": 4, "carrier": "tardy", "agent": agent},
    }
    for days in SPANS:
        for name, query in filters.items():
            yield (
                f"figures, {days} days, {name}",
                f"{front}?{urlencode({'days': days, **query})}",
            )
    yield "fairness, 28 days", f"{reverse('desk_fairness')}?days=28"


def reports() -> Iterator[tuple[str, str]]:
    """Yield reports of the periods that the page offers, which are precomputed."""
    today = timezone.localdate()
    for days in (7, 30, 90):
        span = {"from": today - timedelta(days=days - 1), "to": today}
        yield f"report, {days} days", f"{reverse('desk_report')}?{urlencode(span)}"
