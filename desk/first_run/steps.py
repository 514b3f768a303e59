"""Steps of the first run, and which of them are settled."""

from collections.abc import Collection
from typing import NamedTuple

from django.contrib.auth.models import User
from django.db.models import CharField, Value
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy

from desk.models import Macro, SettledStep
from tickets.models import Agent, FilingRule

# Permissions that leads have and agents do not.
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
    """Return all steps, marked as settled or not."""
    return [Step(slug, title, slug in settled) for slug, title in STEPS.items()]


def settled_slugs() -> set[str]:
    """Return slugs settled by a lead (also HIDDEN) or by existing rows, in one query."""
    by_leads = SettledStep.objects.values_list("slug")
    by_rows = [
        rows.order_by().annotate(slug=Value(slug, CharField())).values_list("slug")[which]
        for slug, rows, which in (
            ("filing", FilingRule.objects.all(), slice(1)),
            ("macros", Macro.objects.filter(active=True), slice(1)),
            # An agent without shifts gets tickets at any hour.
            ("agents", Agent.objects.exclude(shifts=None), slice(1)),
        )
    ]
    return {slug for (slug,) in by_leads.union(*by_rows)}


def checklist_of(user: User) -> list[Step]:
    """Return the steps that the home page lists for a lead; [] once settled or hidden."""
    if not may_set_up(user):
        return []
    settled = settled_slugs()
    steps = steps_of(settled)
    return [] if HIDDEN in settled or all(step.settled for step in steps) else steps


def settle_step(slug: str, by: User) -> None:
    SettledStep.objects.get_or_create(slug=slug, defaults={"settled_by": by.get_username()})


def show_again() -> None:
    SettledStep.objects.filter(slug=HIDDEN).delete()
