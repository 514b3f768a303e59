"""Adding and inviting agents, all or none, for the page and the command."""

from collections.abc import Sequence

from django.conf import settings
from django.contrib.auth.models import Group, User
from django.core.exceptions import PermissionDenied
from django.db import IntegrityError, transaction
from django.utils.translation import gettext

from core.mailing import outbox
from desk.joining import invitations
from desk.joining.agent_rows import AgentRow, RowProblem
from desk.models import Preferences
from tickets import agents
from tickets.models import Agent
from tickets.roles import group

ADD = "tickets.add_agent"
# Column of the file for each field of agents and users.
COLUMN_OF = {
    "username": "login",
    "email": "e-mail",
    "first_name": "first name",
    "last_name": "last name",
    "time_zone": "zone",
    "language": "language",
    "skills": "types",
    "capacity": "capacity",
}
ROLES = ("agent", "lead")


class WrongRow(ValueError):
    """Invalid row; `problems` has messages by column."""

    def __init__(self, problems: dict[str, str]) -> None:
        super().__init__(" ".join(problems.values()))
        self.problems = problems


def add_agents(
    rows: Sequence[AgentRow], *, by: User | None, url: str, check: bool = False
) -> list[RowProblem]:
    """Add and invite all agents, or none if a row is invalid; returns the problems.

    `url` is the desk's base URL; `by` is None for the operator. With `check` nothing is saved.
    Raises PermissionDenied.
    """
    if by is not None and not by.has_perm(ADD):
        raise PermissionDenied
    problems = repeated_logins(rows)
    with transaction.atomic():
        for row in rows:
            try:
                with transaction.atomic():
                    agent = add_one(row, by)
                    invitations.invite(agent.user, by=by, url=url)
            except WrongRow as wrong:
                problems += [RowProblem(row.line, *each) for each in wrong.problems.items()]
            except IntegrityError:
                # A concurrent request added the same login.
                text = gettext("A user with this login was added meanwhile.")
                problems.append(RowProblem(row.line, "login", text))
        if problems or check:
            transaction.set_rollback(True)
        else:
            outbox.ring_mail_job()
    return sorted(set(problems))


def repeated_logins(rows: Sequence[AgentRow]) -> list[RowProblem]:
    """Report logins that occur twice in the file, ignoring case."""
    first_lines: dict[str, int] = {}
    problems = []
    for row in rows:
        key = row.values["login"].casefold()
        if key and (line := first_lines.setdefault(key, row.line)) != row.line:
            text = gettext("The login is in line %(line)d already.") % {"line": line}
            problems.append(RowProblem(row.line, "login", text))
    return problems


def add_one(row: AgentRow, by: User | None) -> Agent:
    """Add the agent of a row. Raises WrongRow with all its problems."""
    values, wrong = row.values, wrong_texts(row, by)
    login = values["login"]
    if User.objects.filter(username__iexact=login).exclude(username=login).exists():
        wrong["login"] = gettext("There is such a user, in upper or lower case.")
    # Leave out invalid values, so that the other ones are checked as well.
    types = "" if "types" in wrong else values["types"]
    capacity = "" if "capacity" in wrong else values["capacity"]
    try:
        agent = agents.create_agent(
            login,
            None,
            email=values["e-mail"],
            names=(values["first name"], values["last name"]),
            skills=[int(one) for one in types.split()],
            capacity=int(capacity) if capacity else None,
            time_zone=values["zone"],
            lead=values["group"].lower() == "lead",
        )
    except agents.BadAgent as error:
        problems = {COLUMN_OF.get(name, name): " ".join(why) for name, why in error.fields.items()}
        raise WrongRow(problems | wrong) from error
    if wrong:
        raise WrongRow(wrong)
    language = values["language"].lower()
    if language:
        Preferences.objects.create(user=agent.user, language=language)
    return agent


def wrong_texts(row: AgentRow, by: User | None) -> dict[str, str]:
    """Check a row as far as possible without saving it; returns messages by column."""
    values, wrong = row.values, {}
    if not values["e-mail"]:
        wrong["e-mail"] = gettext("Enter an e-mail address: the invitation goes there.")
    role = values["group"].lower() or "agent"
    if role not in ROLES:
        wrong["group"] = gettext("Write agent or lead.")
    elif by is not None and not may_give(by, role):
        wrong["group"] = gettext("You may not give this group: it may do more than you.")
    languages = dict(settings.LANGUAGES)
    if values["language"] and values["language"].lower() not in languages:
        text = gettext("Write %(known)s, or leave it empty.")
        wrong["language"] = text % {"known": ", ".join(languages)}
    if not all(is_small_number(one) for one in values["types"].split()):
        wrong["types"] = gettext("Write IDs of ticket types with spaces between, such as 3 5.")
    if values["capacity"] and not (is_small_number(values["capacity"]) and int(values["capacity"])):
        wrong["capacity"] = gettext("Enter a whole number from 1 on.")
    return wrong


def is_small_number(text: str) -> bool:
    return text.isascii() and text.isdecimal() and len(text) < 10


def may_give(by: User, role: str) -> bool:
    """Tell whether a user has all permissions of a role, and so may grant it."""
    role_group: Group = group(role)
    names = role_group.permissions.values_list("content_type__app_label", "codename")
    return by.is_superuser or {f"{app}.{name}" for app, name in names} <= by.get_all_permissions()
