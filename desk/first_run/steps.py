"""The steps of the first run: which there are, and which are settled."""

from collections.abc import Collection
from typing import NamedTuple

from django.contrib.auth.models import User
from django.db.models import CharField, Value
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy

from desk.models import Macro, SettledStep
from tickets.models import Agent, FilingRule

# What a lead has, and an agent has not.
LEADS = ("tickets.change_calendar", "tickets.add_filingrule", "desk.add_macro")
HIDDEN = "hidden"
STEPS: dict[str, str | Promise] = {
    "language": gettext_lazy("Language and time zone"),
    "hours": gettext_lazy("Working hours"),
    "filing": gettext_lazy("Filing days of carriers"),
    "reasons": gettext_lazy("Reason codes"),
    "macros": gettext_lazy("Macros"),
    "agents": gettext_lazy("Agents"),
}


class Step(NamedTuple):
    slug: str
    title: str | Promise
    settled: bool


def may_set_up(user: User) -> bool:
    return user.has_perms(LEADS)


def steps_of(settled: Collection[str]) -> list[Step]:
    """Each is settled by a lead's word, or by what there is."""
    return [Step(slug, title, slug in settled) for slug, title in STEPS.items()]


def settled_slugs() -> set[str]:
    """Of what is settled, HIDDEN among it; in one query."""
    named = SettledStep.objects.values_list("slug")
    there = [
        rows.order_by().annotate(slug=Value(slug, CharField())).values_list("slug")[which]
        for slug, rows, which in (
            ("filing", FilingRule.objects.all(), slice(1)),
            ("macros", Macro.objects.filter(active=True), slice(1)),
            # Without a shift an agent is given tickets at any hour.
            ("agents", Agent.objects.exclude(shifts=None), slice(1)),
        )
    ]
    return {slug for (slug,) in named.union(*there)}


def checklist_of(user: User) -> list[Step]:
    """What the home page lists for a lead; nothing once all is settled or it was hidden."""
    if not may_set_up(user):
        return []
    settled = settled_slugs()
    steps = steps_of(settled)
    return [] if HIDDEN in settled or all(step.settled for step in steps) else steps


def settle_step(slug: str, by: User) -> None:
    SettledStep.objects.get_or_create(slug=slug, defaults={"settled_by": by.get_username()})


def show_again() -> None:
    SettledStep.objects.filter(slug=HIDDEN).delete()
