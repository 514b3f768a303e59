"""Agents work on a ticket together: they hand over, name each other, watch, and link tickets."""

from datetime import timedelta
from typing import Any

import pytest
from django.http import HttpResponse
from django.test import Client
from django.utils import timezone
from rest_framework.test import APIClient

from companies.models import Company
from tests import builders as build
from tests.desk.forms import token
from tests.desk.words import words
from tickets import updating, working
from tickets.changes import appeals
from tickets.changes.actors import Actor
from tickets.changes.mentions import user_name_refusal
from tickets.changes.relating import NotRelated, relate
from tickets.history_codes import Kind
from tickets.models import (
    Absence,
    Agent,
    Comment,
    HistoryEntry,
    Notification,
    RelatedTickets,
    Ticket,
    Watch,
)
from tickets.statuses import By, Status

LIST = "/admin/tickets/ticket/"


@pytest.fixture
def maria(db: None) -> Agent:
    agent = build.agent("maria.gonzalez")
    agent.user.first_name, agent.user.last_name = "María", "González"
    agent.user.save()
    return agent


@pytest.fixture
def ticket(company: Company, agent: Agent) -> Ticket:
    return build.ticket(company, agent=agent)


@pytest.fixture
def lead(db: None) -> Client:
    client = Client()
    client.force_login(build.agent("eve", group="lead", available=False).user)
    return client


def hand_over(desk: Client, ticket: Ticket, to: str, **more: Any) -> HttpResponse:
    body = {"to": to, "seen": token(ticket), **more}
    return desk.post(f"{LIST}{ticket.pk}/hand-over/", body)


def write(desk: Client, ticket: Ticket, text: str, button: str = "note") -> HttpResponse:
    body = {"text": text, button: "1", "seen": token(ticket)}
    return desk.post(f"{LIST}{ticket.pk}/write/", body, follow=True)


def page(desk: Client, ticket: Ticket) -> str:
    return desk.get(f"{LIST}{ticket.pk}/change/").content.decode()


def who_has(ticket: Ticket) -> str:
    ticket.refresh_from_db()
    return str(ticket.agent or "nobody")


def watchers(ticket: Ticket) -> list[str]:
    names = Watch.objects.filter(ticket=ticket).order_by("agent__user__username")
    return list(names.values_list("agent__user__username", flat=True))


def everything() -> list[Any]:
    models = (Ticket, Comment, HistoryEntry, Watch, RelatedTickets)
    return [list(model.objects.order_by("pk").values()) for model in models]


@pytest.mark.parametrize("name", ["maria.gonzalez", "@maria.gonzalez", "Maria", "maría"])
def test_an_agent_hands_over_with_a_note_to_whoever_is_called_so(
    desk: Client, ticket: Ticket, maria: Agent, name: str
) -> None:
    answer = hand_over(desk, ticket, name, note="You know this carrier.")

    assert answer["Location"] == f"{LIST}{ticket.pk}/change/"
    assert who_has(ticket) == "maria.gonzalez"
    text = words(page(desk, ticket))
    assert "ada handed it over from ada to maria.gonzalez." in text
    note = Comment.objects.get()
    assert (note.text, note.public, note.actor) == ("You know this carrier.", False, "ada")
    assert HistoryEntry.objects.get().data["loads"] == {"maria.gonzalez": [0, 50]}


def test_the_company_hears_nothing_of_a_hand_over(
    desk: Client, ticket: Ticket, maria: Agent, api: APIClient
) -> None:
    before = api.get(f"/company/tickets/{ticket.pk}?getComments=true").json()

    hand_over(desk, ticket, "maria", note="Between us.")

    assert api.get(f"/company/tickets/{ticket.pk}?getComments=true").json() == before


@pytest.mark.parametrize(
    ("to", "status", "says"),
    [
        ("", 400, "Enter the name of a colleague."),
        ("nobody.known", 400, "There is no agent named nobody.known."),
        ("ana", 400, "Several agents are named ana: ana.diaz, ana.lopez."),
        ("ada", 409, "The ticket is already assigned to ada."),
        ("gone", 409, "gone is no longer active."),
    ],
)
def test_hand_over_to_an_impossible_colleague_keeps_the_form(
    desk: Client, ticket: Ticket, to: str, status: int, says: str
) -> None:
    for name in ("ana.diaz", "ana.lopez", "gone"):
        build.agent(name)
    user = Agent.objects.get(user__username="gone").user
    user.is_active = False
    user.save()
    before = everything()

    answer = hand_over(desk, ticket, to, note="Please <read> this.")

    html = answer.content.decode()
    assert answer.status_code == status
    assert says in words(html)
    assert "Please &lt;read&gt; this." in html
    assert f'value="{to}"' in html
    assert everything() == before


def test_nobody_hands_a_ticket_to_themselves(desk: Client, company: Company) -> None:
    ticket = build.ticket(company)

    answer = hand_over(desk, ticket, "ada")

    assert "Choose a colleague." in words(answer.content.decode())
    assert who_has(ticket) == "nobody"


def test_a_decided_ticket_is_not_handed_over(desk: Client, ticket: Ticket, maria: Agent) -> None:
    Ticket.objects.filter(pk=ticket.pk).update(status=Status.DECLINED)

    answer = hand_over(desk, ticket, "maria")

    assert "There is nothing left to hand over." in words(answer.content.decode())
    assert who_has(ticket) == "ada"
    assert "hand-over-dialog" not in page(desk, ticket)


def test_nobody_hands_over_what_they_have_not_read(
    desk: Client, ticket: Ticket, maria: Agent
) -> None:
    page_token = token(ticket)
    updating.comment(ticket.company, ticket.pk, Actor(By.COMPANY, "tok"), "Wait: the proof.")
    before = everything()

    for page in (page_token, ""):
        answer = hand_over(desk, ticket, "maria", note="Mine.", seen=page)

        html = answer.content.decode()
        assert answer.status_code == (409 if page else 400)
        assert "Wait: the proof." in html
        assert "Mine." in html
        assert everything() == before

    token_field = f'name="seen" value="{token(ticket)}"'
    assert token_field in html
    assert hand_over(desk, ticket, "maria", note="Mine.").status_code == 302
    assert who_has(ticket) == "maria.gonzalez"


def away(maria: Agent) -> str:
    maria.available = False
    maria.save()
    return "maria.gonzalez is away."


def on_leave(maria: Agent) -> str:
    now = timezone.now()
    Absence.objects.create(agent=maria, starts_at=now, ends_at=now + timedelta(days=9))
    return "maria.gonzalez is on leave until "


def full(maria: Agent) -> str:
    maria.capacity = 0
    maria.save()
    return "maria.gonzalez is at capacity, with 0 of 0 tickets."


def other_skills(maria: Agent) -> str:
    maria.skills.set([4])
    return "maria.gonzalez does not usually take tickets of type overweight."


@pytest.mark.parametrize("concern", [away, on_leave, full, other_skills])
def test_warns_first_where_the_colleague_may_not_get_round_to_it(
    desk: Client, ticket: Ticket, maria: Agent, concern: Any
) -> None:
    says, before = concern(maria), everything()

    answer = hand_over(desk, ticket, "maria", note="Only you can.")

    html = answer.content.decode()
    assert answer.status_code == 409
    assert says in words(html)
    assert "Only you can." in html
    assert 'name="confirmed"' in html
    assert everything() == before

    assert hand_over(desk, ticket, "maria", note="Only you can.", confirmed="1").status_code == 302
    assert who_has(ticket) == "maria.gonzalez"


def test_colleague_named_in_full_is_shown_with_concerns(
    desk: Client, ticket: Ticket, maria: Agent
) -> None:
    says = full(maria)
    request = {"begin": "maria.gonzalez", "ticket": ticket.pk}

    def concerns(**query: Any) -> list[str]:
        agents = desk.get(f"{LIST}colleagues/", {**request, **query}).json()["agents"]
        return [one["concerns"] for one in agents]

    assert concerns() == [says]
    assert concerns(begin="maria.g") == concerns(ticket="") == concerns(ticket="0") == [""]


def test_history_tells_that_it_went_over_capacity(
    desk: Client, ticket: Ticket, maria: Agent
) -> None:
    full(maria)
    hand_over(desk, ticket, "maria", confirmed="1")

    assert "from ada to maria.gonzalez, over capacity (0 of 0)." in words(page(desk, ticket))


def test_an_agent_hands_over_what_is_theirs_or_nobody_s_and_a_lead_anything(
    desk: Client, lead: Client, company: Company, maria: Agent
) -> None:
    hers = build.ticket(company, agent=maria)
    nobodys = build.ticket(company)
    build.agent("ben")

    assert hand_over(desk, hers, "ben").status_code == 403
    assert "hand-over-dialog" not in page(desk, hers)
    assert who_has(hers) == "maria.gonzalez"
    assert hand_over(desk, nobodys, "ben").status_code == 302
    assert "ada handed it over to ben." in words(page(desk, nobodys))
    assert hand_over(lead, hers, "ben").status_code == 302
    assert (who_has(hers), who_has(nobodys)) == ("ben", "ben")


def test_hands_over_without_a_script(desk: Client, ticket: Ticket) -> None:
    html = desk.get(f"{LIST}{ticket.pk}/hand-over/").content.decode()

    assert 'name="to"' in html
    assert f'name="seen" value="{token(ticket)}"' in html
    assert everything()[1] == []


def test_offers_colleagues_by_the_beginning_of_their_names(
    desk: Client, maria: Agent, company: Company, django_assert_max_num_queries: Any
) -> None:
    build.ticket(company, agent=maria)
    away(maria)
    build.agent("mario")

    def offered(begin: str) -> list[str]:
        return [one["name"] for one in find_agents(begin)]

    def find_agents(begin: str) -> list[dict[str, str]]:
        return desk.get(f"{LIST}colleagues/", {"begin": begin}).json()["agents"]

    assert offered("mar") == ["maria.gonzalez", "mario"]
    assert offered("MARÍA") == ["maria.gonzalez"]
    assert offered("gonz") == []
    assert find_agents("maria")[0] == {
        "name": "maria.gonzalez",
        "full_name": "María González",
        "carries": "1 of 50 tickets, away",
        "concerns": "",
    }
    for number in range(20):
        build.agent(f"mar{number}")
    with django_assert_max_num_queries(6):
        assert len(offered("mar")) == 8


@pytest.mark.parametrize("called", ["maria.gonzalez", "maria", "María", "MARIA.GONZALEZ"])
def test_a_note_that_names_a_colleague_shows_a_chip_and_has_them_watch(
    desk: Client, ticket: Ticket, maria: Agent, called: str
) -> None:
    write(desk, ticket, f"Could you look, @{called}? Write to ops@maria.example.com.")

    html = page(desk, ticket)
    assert f'<span class="desk-mention">@{called}</span>?' in html
    assert "ops@maria.example.com" in html
    assert html.count("desk-mention") == 1
    assert watchers(ticket) == ["maria.gonzalez"]

    hers = Client()
    hers.force_login(maria.user)
    assert f'<span class="desk-mention desk-mention-me">@{called}</span>' in page(hers, ticket)


def test_names_of_nobody_stay_text_and_the_page_says_so(desk: Client, ticket: Ticket) -> None:
    for name in ("ana.diaz", "ana.lopez"):
        build.agent(name)

    html = write(desk, ticket, "@ana and @mria, see https://x.example.com/@ana").content.decode()

    assert "Nobody was notified for @ana, @mria:" in words(html)
    assert "desk-mention" not in html
    assert watchers(ticket) == []


def test_a_name_that_is_given_later_makes_no_chip_of_an_old_note(
    desk: Client, ticket: Ticket
) -> None:
    write(desk, ticket, "Ask @zoe.")
    build.agent("zoe")

    html = page(desk, ticket)
    assert "Ask @zoe." in html
    assert "desk-mention" not in html


def test_who_names_themselves_is_not_made_to_watch(desk: Client, ticket: Ticket) -> None:
    write(desk, ticket, "I, @ada, will see to it.")

    assert Comment.objects.filter(ticket=ticket).count() == 1
    assert watchers(ticket) == []


@pytest.mark.parametrize("button", ["reply", "decline"])
def test_no_user_name_reaches_the_company(
    desk: Client, ticket: Ticket, maria: Agent, button: str
) -> None:
    before, text = everything(), "Ask @maria.gonzalez. Or @Maria."
    if button == "reply":
        answer = write(desk, ticket, text, "reply")
    else:
        body = {"ticket": ticket.pk, "seen": token(ticket), "reason": text, "code": "other"}
        answer = desk.post(f"{LIST}move/3/", body)

    html = answer.content.decode()
    assert answer.status_code == 409
    assert "The company would read @maria.gonzalez, which is a user name." in words(html)
    assert text in html
    assert everything() == before


@pytest.mark.parametrize(
    ("user_name", "spelling", "is_mention"),
    [
        ("stra\u00dfe", "Stra\u00dfe", True),
        ("irina", "\u0131rina", False),
        ("irina", "IRINA", True),
    ],
)
def test_a_user_name_is_found_by_one_folding(
    db: None, user_name: str, spelling: str, is_mention: bool
) -> None:
    build.agent(user_name)

    assert bool(user_name_refusal(f"Ask @{spelling} for it.")) is is_mention


def test_a_first_name_behind_an_at_sign_is_no_user_name(
    desk: Client, ticket: Ticket, maria: Agent
) -> None:
    """Accept it in a reply: the company may have an account of that name elsewhere."""
    write(desk, ticket, "Thank you, we have written to @Maria on your account.", "reply")

    assert Comment.objects.get().public
    assert watchers(ticket) == []


def test_an_agent_watches_and_stops(desk: Client, ticket: Ticket, agent: Agent) -> None:
    address = f"{LIST}{ticket.pk}/watch/"

    for _ in range(2):
        desk.post(address)
    assert watchers(ticket) == ["ada"]
    html = page(desk, ticket)
    assert "Watched by" in html
    assert "Stop watching" in html
    listed = desk.get(LIST, {"queue": "watched"}).content.decode()
    assert f"#{ticket.pk}" in listed

    for _ in range(2):
        desk.post(address, {"stop": "1"})
    assert watchers(ticket) == []
    assert f"#{ticket.pk}" not in desk.get(LIST, {"queue": "watched"}).content.decode()


def test_the_queue_watched_is_one_s_own_and_ends_with_the_decision(
    desk: Client, company: Company, maria: Agent, agent: Agent
) -> None:
    mine, hers, decided = (build.ticket(company) for _ in range(3))
    now = timezone.now()
    for one, who in ((mine, agent), (decided, agent), (hers, maria)):
        Watch.objects.create(ticket=one, agent=who, created_at=now)
    Ticket.objects.filter(pk=decided.pk).update(status=Status.ACCEPTED)

    html = desk.get(LIST, {"queue": "watched"}).content.decode()

    assert [f"#{one.pk}" in html for one in (mine, hers, decided)] == [True, False, False]


def test_somebody_who_is_no_agent_cannot_watch(operator: Client, ticket: Ticket) -> None:
    answer = operator.post(f"{LIST}{ticket.pk}/watch/", follow=True)

    assert "root is not an agent and cannot watch tickets." in answer.content.decode()


def test_the_page_shows_the_company_s_other_tickets_of_the_shipment(
    desk: Client, company: Company, birch: Company, maria: Agent
) -> None:
    parcel = build.shipment(company)
    ticket = build.ticket(company, type_id=4, shipment_id=parcel.pk)
    twin = build.ticket(company, type_id=5, shipment_id=parcel.pk, agent=maria)
    far = build.ticket(company, shipment_id=99)
    strange = build.ticket(birch, shipment_id=parcel.pk)
    incidence = build.incidence(parcel)
    for one in (ticket, twin):
        one.incidence_links.create(incidence=incidence, created_at=timezone.now())

    html = page(desk, ticket)
    box = words(html.partition('id="others"')[2].partition("</ul>")[0])

    assert box.startswith(f"> #{twin.pk} damaged Pending maria.gonzalez same shipment same incid")
    assert f"#{far.pk}" not in box
    assert f"#{strange.pk}" not in box


def test_links_two_tickets_on_both_pages_and_in_both_histories(
    desk: Client, company: Company
) -> None:
    ticket, other = build.ticket(company), build.ticket(company, type_id=5)
    address = f"{LIST}{ticket.pk}/relate/"

    for _ in range(2):
        desk.post(address, {"other": f" #{other.pk} "})

    assert RelatedTickets.objects.count() == 1
    for one, another in ((ticket, other), (other, ticket)):
        assert f"ada linked it to ticket {another.pk}." in words(page(desk, one))
        assert f'id="other-{another.pk}"' in page(desk, one)

    for _ in range(2):
        desk.post(f"{LIST}{other.pk}/relate/", {"other": ticket.pk, "remove": "1"})

    assert not RelatedTickets.objects.exists()
    assert "ada removed the link to ticket" in words(page(desk, ticket))
    assert HistoryEntry.objects.count() == 4


@pytest.mark.parametrize("other", ["", "x", "-1", "0", "9" * 19, "٣", "itself", "strange", "none"])
def test_a_wrong_ticket_is_not_linked_and_stays_typed(
    desk: Client, company: Company, birch: Company, other: str
) -> None:
    ticket = build.ticket(company)
    numbers = {"itself": ticket.pk, "strange": build.ticket(birch).pk, "none": ticket.pk + 999}
    number = str(numbers.get(other, other))

    answer = desk.post(f"{LIST}{ticket.pk}/relate/", {"other": number})

    html = answer.content.decode()
    assert answer.status_code in (400, 409)
    assert f'value="{number}"' in html
    if other in ("strange", "none"):
        # The answer is the same as for a ticket that does not exist.
        assert f"Acme has no ticket {number}." in words(html)
    assert not RelatedTickets.objects.exists()
    assert not HistoryEntry.objects.exists()


def test_links_only_so_many(company: Company, agent: Agent, monkeypatch: Any) -> None:
    monkeypatch.setattr("tickets.changes.relating.MOST_RELATED", 1)
    first, second, third = (build.ticket(company) for _ in range(3))
    relate(first.pk, second.pk, user=agent.user)

    with pytest.raises(NotRelated, match=f"Ticket {second.pk} already has 1"):
        relate(third.pk, second.pk, user=agent.user)


def test_a_reply_takes_a_ticket_that_nobody_has(
    desk: Client, company: Company, agent: Agent
) -> None:
    agent.capacity = 0
    agent.save()
    ticket = build.ticket(company)

    write(desk, ticket, "Only a note.")
    assert who_has(ticket) == "nobody"
    write(desk, ticket, "We are looking into it.", "reply")

    assert who_has(ticket) == "ada"
    assert "ada replied and so took the ticket." in words(page(desk, ticket))


def test_a_reply_takes_no_ticket_from_anybody_nor_one_that_it_decides(
    desk: Client, company: Company, maria: Agent, operator: Client
) -> None:
    hers, decided, nobodys = (build.ticket(company, agent=who) for who in (maria, None, None))

    write(desk, hers, "Hello.", "reply")
    body = {"text": "Yes.", "reply": "1", "to": "2", "seen": token(decided)}
    desk.post(f"{LIST}{decided.pk}/write/", body)
    write(operator, nobodys, "Hello.", "reply")

    assert [who_has(one) for one in (hers, decided, nobodys)] == [
        "maria.gonzalez",
        "nobody",
        "nobody",
    ]


def test_one_reply_to_a_storm_takes_none_of_its_tickets(company: Company, agent: Agent) -> None:
    ticket = build.ticket(company)

    working.write(ticket.pk, "All parcels are late.", user=agent.user, public=True)

    assert who_has(ticket) == "nobody"
    assert not HistoryEntry.objects.filter(kind=Kind.TAKEN).exists()


def notifications() -> list[tuple[str, str, str]]:
    """Return unread notifications (recipient, kind, actor), and mark them as read."""
    unread = Notification.objects.unread().order_by("recipient__username", "kind")
    rows = list(unread.values_list("recipient__username", "kind", "actor"))
    unread.order_by().update(read_at=timezone.now())
    return rows


def test_the_receiver_and_whoever_is_named_are_told(
    desk: Client, ticket: Ticket, maria: Agent
) -> None:
    build.agent("ben")
    hand_over(desk, ticket, "maria", note="@ben and @maria know, and so do I, @ada.")

    assert notifications() == [
        ("ben", "mentioned", "ada"),
        ("maria.gonzalez", "assigned", "ada"),
        ("maria.gonzalez", "mentioned", "ada"),
    ]


def test_watchers_are_told_of_the_company_s_answers_and_of_decisions_by_others(
    desk: Client, company: Company, ticket: Ticket, maria: Agent, agent: Agent
) -> None:
    for who in (maria, agent):
        Watch.objects.create(ticket=ticket, agent=who, created_at=timezone.now())
    # A token may have the name of an agent.
    caller = Actor(By.COMPANY, "ada")
    answered = [("ada", "answered", "ada"), ("maria.gonzalez", "watched", "ada")]

    updating.comment(company, ticket.pk, caller, "Here it is.")
    assert notifications() == answered
    updating.update_ticket(company, ticket.pk, caller, to=Status.CLAIM_IN_REVIEW)
    assert notifications() == answered

    write(desk, ticket, "Thank you.", "reply")
    write(desk, ticket, "Only between us.")
    working.move(ticket.pk, Status.IN_REVIEW, user=maria.user)
    assert notifications() == []
    working.move(ticket.pk, Status.DECLINED, user=agent.user, reason="No.")
    assert notifications() == [("maria.gonzalez", "watched", "ada")]

    maria.user.is_active = False
    maria.user.save()
    appeals.appeal_decision(company, ticket.pk, caller, "But it is.")
    assert notifications() == [("ada", "answered", "ada")]
