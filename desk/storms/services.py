"""Storms: detected every minute, decided by leads, and linked to their tickets."""

from collections import Counter
from collections.abc import Sequence
from datetime import datetime, timedelta
from functools import partial
from typing import NamedTuple

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import Count, QuerySet
from django.utils import timezone
from django.utils.translation import gettext

from core.jobs.failing_rows import FailingRows
from desk.models import Storm
from desk.storms import rule
from shipments.carriers import carrier_key, usual_spellings
from tickets.changes.actors import NotAllowed
from tickets.models import Ticket

HOUR = timedelta(hours=1)
WEEKS = 4
# No new proposal for a carrier this long after a lead dismissed or closed its storm.
QUIET = timedelta(hours=6)
ALIVE = (Storm.State.PROPOSED, Storm.State.OPEN)


class StormRefused(Exception):
    """Action that the storm's state does not allow; the message says why."""


def require_storm_lead(user: User) -> str:
    """Return the name of a user who may decide on storms. Raises NotAllowed."""
    if not user.is_active or not user.has_perm("desk.answer_storm"):
        text = gettext("%(name)s is not allowed to manage storms.")
        raise NotAllowed(text % {"name": user.get_username()})
    return user.get_username()


class CarrierCounts(NamedTuple):
    """Tickets of an hour per carrier (case-insensitive key), and the usual spelling of each."""

    counts: Counter[str]
    names: dict[str, str]


def opened_by_carrier(until: datetime) -> CarrierCounts:
    """Count tickets by carrier in the hour before `until`."""
    tickets = Ticket.objects.filter(created_at__gt=until - HOUR, created_at__lte=until)
    tickets_with_carrier = tickets.exclude(carrier_name="").order_by()
    spelt = dict(tickets_with_carrier.values_list("carrier_name").annotate(number=Count("*")))
    counts: Counter[str] = Counter()
    for name, number in spelt.items():
        counts[carrier_key(name)] += number
    return CarrierCounts(counts, usual_spellings(spelt))


def active_storms() -> QuerySet[Storm]:
    """Storms that are proposed or open, newest first."""
    return Storm.objects.filter(state__in=ALIVE).order_by("-pk")


def watch(now: datetime | None = None) -> list[Storm]:
    """Withdraw proposals that are over, propose new storms, link tickets to open ones.

    Returns new proposals. A failing carrier or storm does not hold up the others.
    """
    now = now or timezone.now()
    rows, hour = FailingRows("watch_for_storms"), opened_by_carrier(now)
    proposals = Storm.objects.filter(state=Storm.State.PROPOSED, hour__lt=now - 2 * HOUR)
    for storm in proposals:
        rows.do("storm", [storm.pk], partial(withdraw_if_over, storm, hour.counts, now))
    proposed = propose(hour, now, rows)
    for storm_id in Storm.objects.filter(state=Storm.State.OPEN).values_list("pk", flat=True):
        rows.do("storm", [storm_id], lambda keys: link_tickets_to_storm(*keys))
    return proposed


def propose(hour: CarrierCounts, now: datetime, rows: FailingRows) -> list[Storm]:
    many = {key for key, number in hour.counts.items() if number >= rule.LEAST}
    if not many:
        return []
    active = active_storms().values_list("carrier_name", flat=True)
    decided = Storm.objects.exclude(decided_by="").filter(closed_at__gt=now - QUIET)
    many -= {*map(carrier_key, (*active, *decided.values_list("carrier_name", flat=True)))}
    past = (
        [opened_by_carrier(now - timedelta(weeks=week)).counts for week in range(1, WEEKS + 1)]
        if many
        else []
    )
    storms: list[Storm] = []

    def judge(keys: Sequence[str]) -> None:
        for key in keys:
            past_counts = [week[key] for week in past]
            if rule.is_storm(hour.counts[key], past_counts):
                storms.append(make_proposal(hour, key, rule.usual(past_counts), now))

    for key in sorted(many):
        rows.do("carrier", [key], judge)
    return storms


def make_proposal(hour: CarrierCounts, key: str, usual: float, now: datetime) -> Storm:
    storm, _ = Storm.objects.get_or_create(
        carrier_name=hour.names[key],
        state__in=ALIVE,
        defaults={"hour": now - HOUR, "found": hour.counts[key], "usual": usual},
    )
    return storm


def withdraw_if_over(storm: Storm, counts: Counter[str], now: datetime, _: object = None) -> None:
    """Dismiss a proposal once the hours are ordinary again.

    Open storms stay open, since answering them takes longer than the storm.
    """
    if rule.is_over(counts[carrier_key(storm.carrier_name)], storm.usual):
        proposal = Storm.objects.filter(pk=storm.pk, state=Storm.State.PROPOSED)
        proposal.update(state=Storm.State.DISMISSED, closed_at=now)


@transaction.atomic
def link_tickets_to_storm(storm_id: int) -> None:
    """Link open tickets about the carrier, from the start of the storm until now."""
    storm = Storm.objects.select_for_update(no_key=True).get(pk=storm_id)
    if storm.state == Storm.State.OPEN:
        open_tickets = Ticket.objects.open().filter(created_at__gt=storm.hour)
        tickets = open_tickets.about_carrier(storm.carrier_name)
        storm.tickets.add(*tickets.exclude(storms=storm).values_list("pk", flat=True))


def decide(storm_id: int, to: Storm.State, *, user: User, title: str = "") -> Storm:
    """Open a proposed storm, dismiss it, or close an open one.

    Raises NotAllowed, StormRefused and Storm.DoesNotExist.
    """
    name, title = require_storm_lead(user), title.strip()
    with transaction.atomic():
        storm = Storm.objects.select_for_update(no_key=True).get(pk=storm_id)
        before = Storm.State.OPEN if to == Storm.State.CLOSED else Storm.State.PROPOSED
        if to == Storm.State.PROPOSED or storm.state != before:
            text = gettext("The state of the storm has changed: %(state)s.")
            raise StormRefused(text % {"state": storm.get_state_display()})
        if to == Storm.State.OPEN:
            if not title:
                text = gettext("Say what happened; agents see it on each ticket.")
                raise StormRefused(text)
            storm.title = title
        else:
            storm.closed_at = timezone.now()
        storm.state, storm.decided_by = to, name
        storm.save(update_fields=["state", "title", "decided_by", "closed_at"])
        if to == Storm.State.OPEN:
            link_tickets_to_storm(storm_id)
    return storm
