"""Search over all kinds of objects, for the palette, and suggestions for mistyped names."""

from typing import Any, NamedTuple
from urllib.parse import urlencode

from django.contrib.auth.models import AnonymousUser, User
from django.http import HttpRequest
from django.urls import reverse
from django.utils.text import capfirst
from django.utils.translation import gettext
from unfold.dataclasses import SearchResult

from core.data.statements import read_rows
from desk.common import search_names, search_terms
from desk.common.search_names import Name
from desk.common.search_terms import Terms
from desk.queue import search_statements
from desk.queue.search_tickets import exact_ticket, search_parameters, search_tickets
from shipments.carriers import carrier_key
from tickets.labels import status_label, type_label
from tickets.models import Ticket

MOST_OFFERED = 10
MOST_OF_OTHERS = 5
LIST = "admin:tickets_ticket_changelist"
ICONS = {
    "ticket": "confirmation_number",
    "shipment": "package_2",
    "company": "domain",
    "agent": "support_agent",
    "carrier": "local_shipping",
    "type": "category",
}
SHIPMENT = "SELECT parcel.id, parcel.tracking_number, parcel.carrier_name, company.name"
OWNER = "JOIN companies_company company ON company.id = parcel.company_id"
SHIPMENTS_FROM = f"""
({SHIPMENT} FROM shipments_shipment parcel {OWNER}
  WHERE search_key(parcel.tracking_number) LIKE %(part)s || '%%' LIMIT %(most)s)
UNION
({SHIPMENT} FROM tickets_ticket ticket
  JOIN shipments_shipment parcel ON parcel.id = ticket.shipment_id {OWNER}
  WHERE ticket.id IN ({search_statements.IN_PARTS}) LIMIT %(most)s)
LIMIT %(most)s
"""


class Hit(NamedTuple):
    """A search result: a ticket, shipment, company, agent, carrier or type, with its link."""

    kind: str
    id: int
    title: str
    detail: str
    link: str


class SearchHits(NamedTuple):
    """Hits by kind; `labels` are carriers and types."""

    # Id of the only ticket that the query names.
    exact: int | None
    tickets: list[Hit]
    shipments: list[Hit]
    companies: list[Hit]
    agents: list[Hit]
    labels: list[Hit]
    # Names that differ by a letter, if no name matches.
    near: list[Hit]

    def hits(self) -> list[Hit]:
        """Return all hits, the exact ticket first, and shipments after the tickets about them."""
        first = [hit for hit in self.tickets if hit.id == self.exact]
        rest = [hit for hit in self.tickets if hit.id != self.exact]
        names = [*self.companies, *self.agents, *self.labels]
        return [*first, *names, *rest, *self.shipments, *self.near]


NOTHING = SearchHits(None, [], [], [], [], [], [])


def find(words: str, user: User | AnonymousUser, most: int = MOST_OFFERED) -> SearchHits:
    """Search the kinds that the user may see; the number of hits is bounded for each kind."""
    terms = search_terms.read_terms(words)
    sees_tickets = user.has_perm("tickets.view_ticket")
    if not terms.typed:
        return NOTHING
    exact = None
    tickets, agents, labels = [], [], []
    if sees_tickets:
        exact = exact_ticket(terms)
        tickets = ticket_hits(search_tickets(terms, most).ids, exact)
        agents = [agent_hit(one) for one in search_names.find_agents(terms.words, MOST_OF_OTHERS)]
        labels = [*carrier_hits(search_names.find_carriers(terms.words))]
        labels += [type_hit(one) for one in search_names.find_types(terms.words)]
    companies: list[Hit] = []
    if user.has_perm("companies.view_company"):
        names = search_names.find_companies(terms.words, MOST_OF_OTHERS)
        companies = [company_hit(name, sees_tickets) for name in names]
    shipments = shipment_hits(terms) if user.has_perm("shipments.view_shipment") else []
    near = [] if companies or agents or labels or not sees_tickets else find_near(terms)
    return SearchHits(exact, tickets, shipments, companies, agents, labels[:MOST_OF_OTHERS], near)


def terms_of(request: HttpRequest) -> Terms:
    """Return the terms of the request's query, parsed once per request."""
    terms: Terms | None = getattr(request, "_desk_terms", None)
    if terms is None:
        terms = search_terms.read_terms(request.GET.get("q", ""))
        vars(request)["_desk_terms"] = terms
    return terms


def find_near(terms: Terms) -> list[Hit]:
    """Find companies, agents and carriers whose names differ by a letter; links search for them."""
    companies, agents, carriers = search_names.find_near_names(terms.words)
    hits = [*(company_hit(one, True) for one in companies), *map(agent_hit, agents)]
    return [
        hit._replace(link=f"{reverse(LIST)}?{urlencode({'q': hit.title})}")
        for hit in [*hits, *carrier_hits(carriers)]
    ]


def ticket_hits(ids: list[int], exact: int | None) -> list[Hit]:
    wanted = ids if exact is None or exact in ids else [exact, *ids[:-1]]
    tickets = Ticket.objects.filter(pk__in=wanted).select_related("company", "type").order_by("-pk")
    return [
        Hit(
            "ticket",
            ticket.pk,
            f"#{ticket.pk}",
            " · ".join(map(str, (ticket.company, ticket.type, status_label(ticket.status)))),
            reverse("admin:tickets_ticket_change", args=[ticket.pk]),
        )
        for ticket in tickets
    ]


def shipment_hits(terms: Terms) -> list[Hit]:
    if not terms.part:
        return []
    rows = read_rows(SHIPMENTS_FROM, search_parameters(terms, MOST_OF_OTHERS))
    return [
        Hit(
            "shipment",
            pk,
            tracking,
            f"{carrier} · {company}",
            reverse("admin:shipments_shipment_change", args=[pk]),
        )
        for pk, tracking, carrier, company in rows
    ]


def company_hit(company: Name, sees_tickets: bool) -> Hit:
    """Build a hit that links to the company's tickets, or to its page if those are not visible."""
    link = everything_with(company=company.id)
    if not sees_tickets:
        link = reverse("admin:companies_company_change", args=[company.id])
    return Hit("company", company.id, company.name, "", link)


def agent_hit(agent: Name) -> Hit:
    link = f"{reverse(LIST)}?{urlencode({'queue': 'open', 'agent': agent.name})}"
    return Hit("agent", agent.id, agent.full or agent.name, agent.name if agent.full else "", link)


def carrier_hits(spellings: list[Name]) -> list[Hit]:
    """Build one hit per carrier, whatever its spellings, that links to the carrier's tickets."""
    carriers = {carrier_key(one.name): one.name for one in reversed(spellings)}
    return [
        Hit("carrier", 0, name, gettext("Carrier"), everything_with(carrier_name=name))
        for name in carriers.values()
    ]


def type_hit(ticket_type: Name) -> Hit:
    title = capfirst(type_label(ticket_type.name))
    link = everything_with(type=ticket_type.id)
    return Hit("type", ticket_type.id, title, gettext("Type"), link)


def everything_with(**filters: str | int) -> str:
    return f"{reverse(LIST)}?{urlencode({'queue': 'everything', **filters})}"


def palette(request: HttpRequest, term: str) -> list[SearchResult]:
    """Return the results for Ctrl+K; Unfold caches them for five minutes."""
    return [search_result(hit) for hit in find(term, request.user).hits()]


def search_result(hit: Hit) -> SearchResult:
    kinds: Any = {"title": hit.title, "description": hit.detail, "link": hit.link}
    return SearchResult(**kinds, icon=ICONS[hit.kind])
