"""Everything that is found at the desk, by kind: for the palette, and for who mistyped a name."""

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
    """Something found: a ticket, shipment, company, agent, carrier or type; where it leads."""

    kind: str
    id: int
    title: str
    detail: str
    link: str


class SearchHits(NamedTuple):
    """Hits by kind. `exact` is the ticket that was meant, if what was typed names just one;
    `named` are carriers and types; `near` are names that differ in a letter, where none fits.
    """

    exact: int | None
    tickets: list[Hit]
    shipments: list[Hit]
    companies: list[Hit]
    agents: list[Hit]
    named: list[Hit]
    near: list[Hit]

    def hits(self) -> list[Hit]:
        """All of them, the ticket that was meant first; a shipment behind the tickets about it."""
        first = [one for one in self.tickets if one.id == self.exact]
        rest = [one for one in self.tickets if one.id != self.exact]
        names = [*self.companies, *self.agents, *self.named]
        return [*first, *names, *rest, *self.shipments, *self.near]


NOTHING = SearchHits(None, [], [], [], [], [], [])


def find(words: str, user: User | AnonymousUser, most: int = MOST_OFFERED) -> SearchHits:
    """What these words find, of the kinds that the user may see; bounded whatever is asked for."""
    terms = search_terms.read_terms(words)
    sees_tickets = user.has_perm("tickets.view_ticket")
    if not terms.typed:
        return NOTHING
    exact, tickets, agents, named = None, [], [], []
    if sees_tickets:
        exact = exact_ticket(terms)
        tickets = ticket_hits(search_tickets(terms, most).ids, exact)
        agents = [agent_hit(one) for one in search_names.find_agents(terms.words, MOST_OF_OTHERS)]
        named = [*carrier_hits(search_names.find_carriers(terms.words))]
        named += [type_hit(one) for one in search_names.find_types(terms.words)]
    companies: list[Hit] = []
    if user.has_perm("companies.view_company"):
        found = search_names.find_companies(terms.words, MOST_OF_OTHERS)
        companies = [company_hit(one, sees_tickets) for one in found]
    shipments = shipment_hits(terms) if user.has_perm("shipments.view_shipment") else []
    near = [] if companies or agents or named or not sees_tickets else find_near(terms)
    return SearchHits(exact, tickets, shipments, companies, agents, named[:MOST_OF_OTHERS], near)


def terms_of(request: HttpRequest) -> Terms:
    """What the address asks for; taken apart once in a request."""
    known: Terms | None = getattr(request, "_desk_terms", None)
    if known is None:
        known = search_terms.read_terms(request.GET.get("q", ""))
        vars(request)["_desk_terms"] = known
    return known


def find_near(terms: Terms) -> list[Hit]:
    """Companies, agents and carriers with such names, but for a letter, each with the search for
    it.
    """
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
    """It leads to the company's tickets, or to its own page for who may see none."""
    link = everything_with(company=company.id)
    if not sees_tickets:
        link = reverse("admin:companies_company_change", args=[company.id])
    return Hit("company", company.id, company.name, "", link)


def agent_hit(agent: Name) -> Hit:
    """It leads to the agent's open tickets."""
    link = f"{reverse(LIST)}?{urlencode({'queue': 'open', 'agent': agent.name})}"
    return Hit("agent", agent.id, agent.full or agent.name, agent.name if agent.full else "", link)


def carrier_hits(spellings: list[Name]) -> list[Hit]:
    """One of each carrier, however many spellings it has; it leads to the carrier's tickets."""
    carriers = {carrier_key(one.name): one.name for one in reversed(spellings)}
    return [
        Hit("carrier", 0, name, gettext("Carrier"), everything_with(carrier_name=name))
        for name in carriers.values()
    ]


def type_hit(found: Name) -> Hit:
    """It leads to the tickets of the type."""
    title = capfirst(type_label(found.name))
    return Hit("type", found.id, title, gettext("Type"), everything_with(type=found.id))


def everything_with(**narrowed: str | int) -> str:
    return f"{reverse(LIST)}?{urlencode({'queue': 'everything', **narrowed})}"


def palette(request: HttpRequest, term: str) -> list[SearchResult]:
    """What Ctrl+K offers; Unfold keeps it for five minutes."""
    return [search_result(hit) for hit in find(term, request.user).hits()]


def search_result(hit: Hit) -> SearchResult:
    kinds: Any = {"title": hit.title, "description": hit.detail, "link": hit.link}
    return SearchResult(**kinds, icon=ICONS[hit.kind])
