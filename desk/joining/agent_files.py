"""Import of a file of agents: adds, changes and deactivates them, all or none."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from django.contrib.auth.models import User
from django.db import transaction

from core.data.reading_order import ReadingOrder
from desk.common import sessions
from desk.joining.adding import COLUMN_OF, ROLES, add_agents, repeated_logins, wrong_texts
from desk.joining.agent_rows import COLUMNS, AgentRow, RowProblem
from desk.models import Preferences
from tickets import agents
from tickets.models import Agent, TicketType
from tickets.roles import group

FILE_COLUMNS = (*COLUMNS, "state")
STATES = ("on", "off")
# Value of the column "types"; an empty cell leaves the types unchanged.
ALL_TYPES = "all"


class NoAddress(ValueError):
    """The desk's URL is missing, which invitations need."""


class ImportResult(NamedTuple):
    """Result of an import: added logins, and changed logins with their changed columns."""

    added: list[str]
    changed: dict[str, list[str]]
    problems: list[RowProblem]


def import_agents(rows: Sequence[AgentRow], *, url: str, check: bool) -> ImportResult:
    """Import agents as the operator; with `check` only report the differences.

    Empty cells and agents that are not in the file stay unchanged. If a row is invalid, nothing is
    changed. Raises NoAddress if there are new agents and `url` is empty.
    """
    problems = repeated_logins(rows)
    changed: dict[str, list[str]] = {}
    with transaction.atomic():
        users = locked_users([row.values["login"] for row in rows])
        new = [row for row in rows if row.values["login"] not in users and not is_off(row)]
        if new and not (url or check):
            raise NoAddress
        for row in rows:
            user = users.get(row.values["login"])
            wrong = wrong_in_file(row, user)
            if user is not None and not wrong:
                try:
                    differs = change_one(user, row)
                except agents.BadAgent as error:
                    wrong = {COLUMN_OF[name]: " ".join(why) for name, why in error.fields.items()}
                else:
                    changed |= {user.username: differs} if differs else {}
            problems += [RowProblem(row.line, *each) for each in wrong.items()]
        if new:
            to_add = [row._replace(values=row.values | {"types": types_of(row)}) for row in new]
            problems += add_agents(to_add, by=None, url=url, check=check or bool(problems))
        if problems or check:
            transaction.set_rollback(True)
        elif changed:
            agents.wake_assignment()
    return ImportResult([row.values["login"] for row in new], changed, sorted(set(problems)))


def locked_users(logins: Iterable[str]) -> dict[str, User]:
    users = User.objects.filter(username__in=logins).order_by("pk").select_for_update(of=("self",))
    return {user.username: user for user in users.select_related("agent", "preferences")}


def is_off(row: AgentRow) -> bool:
    return row.values["state"].lower() == "off"


def types_of(row: AgentRow) -> str:
    types = row.values["types"]
    return "" if types.lower() == ALL_TYPES else types


def wrong_in_file(row: AgentRow, user: User | None) -> dict[str, str]:
    """Check a row as far as possible without saving it; returns messages by column."""
    wrong = {}
    if row.values["state"].lower() not in ("", *STATES):
        wrong["state"] = "Write on or off, or leave it empty."
    if user is None:
        return wrong
    wrong |= wrong_texts(row._replace(values=row.values | {"types": types_of(row)}), None)
    if not row.values["e-mail"]:
        # An empty address leaves the existing one unchanged.
        wrong.pop("e-mail")
    if not hasattr(user, "agent"):
        wrong["login"] = "This user is no agent."
    elif user.is_superuser and is_off(row):
        wrong["state"] = "A superuser is not switched off by a file."
    return wrong


def as_values(user: User) -> dict[str, str]:
    """Return an agent as values of a row, by column."""
    groups = {one.name for one in user.groups.all()}
    preferences = getattr(user, "preferences", None)
    return {
        "login": user.username,
        "first name": user.first_name,
        "last name": user.last_name,
        "e-mail": user.email,
        "group": next((role for role in reversed(ROLES) if role in groups), ""),
        "zone": user.agent.time_zone,
        "language": preferences.language if preferences else "",
        "types": " ".join(str(one) for one in sorted(one.pk for one in user.agent.skills.all())),
        "capacity": str(user.agent.capacity),
        "state": "on" if user.is_active else "off",
    }


def wanted_values(row: AgentRow) -> dict[str, str]:
    """Return the non-empty values of a row, normalized like those of `as_values`."""
    wanted = {column: text for column, text in row.values.items() if text}
    for column in ("group", "language", "state"):
        if column in wanted:
            wanted[column] = wanted[column].lower()
    if "types" in wanted:
        wanted["types"] = " ".join(str(one) for one in sorted({*map(int, types_of(row).split())}))
    if "capacity" in wanted:
        wanted["capacity"] = str(int(wanted["capacity"]))
    return wanted


def change_one(user: User, row: AgentRow) -> list[str]:
    """Save what differs; returns the changed columns. Raises BadAgent."""
    now, wanted = as_values(user), wanted_values(row)
    differs = [column for column in FILE_COLUMNS if wanted.get(column, now[column]) != now[column]]
    if not differs:
        return []
    to_be = now | wanted
    user.first_name, user.last_name = to_be["first name"], to_be["last name"]
    user.email, user.is_active = to_be["e-mail"], to_be["state"] == "on"
    agent = user.agent
    agent.time_zone, agent.capacity = to_be["zone"], int(to_be["capacity"])
    agents.check_agent(agent, None)
    user.save(update_fields=["first_name", "last_name", "email", "is_active"])
    agent.save(update_fields=["time_zone", "capacity"])
    if "types" in differs:
        set_types(agent, [int(one) for one in to_be["types"].split()])
    if "group" in differs:
        user.groups.remove(*user.groups.filter(name__in=ROLES))
        user.groups.add(group(to_be["group"]))
    if "language" in differs:
        Preferences.objects.update_or_create(user=user, defaults={"language": to_be["language"]})
    if not user.is_active and "state" in differs:
        sessions.end_others(user, None)
    return differs


def set_types(agent: Agent, wanted: list[int]) -> None:
    """Set the ticket types of an agent. Raises BadAgent for an unknown id."""
    types = TicketType.objects.filter(pk__in=wanted)
    if unknown := set(wanted) - {one.pk for one in types}:
        text = f"There is no ticket type {min(unknown)}."
        raise agents.BadAgent(text, {"skills": [text]})
    agent.skills.set(types)


def all_agents() -> list[dict[str, str]]:
    """Return every agent as values of a row, ordered by login."""
    users = User.objects.filter(agent__isnull=False).select_related("agent", "preferences")
    return [
        as_values(user)
        for user in users.prefetch_related("groups", "agent__skills").order_by(
            ReadingOrder("username")
        )
    ]
