"""What agents do to tickets: move, reply, note (decision T3). The admin and commands come here."""

from collections.abc import Sequence

from django.contrib.auth.models import User
from django.db import transaction

from tickets.changes.actors import acting
from tickets.changes.history import remember
from tickets.changes.writes import MoveRefused, StaleTicket, change_status, say
from tickets.models import Ticket
from tickets.statuses import TOLD, Status, needs_reason


@transaction.atomic
def move(
    ticket_id: int,
    to: Status,
    *,
    user: User,
    reason: str = "",
    version: int | None = None,
    requested: Sequence[str] = (),
) -> Ticket:
    """Move a ticket for an agent; `version` is that of the page that they decided on.

    The reason is a public comment where the move concerns the company, else history keeps it. It
    names the documents `requested`, which are a reason of their own to ask for more.
    Raises Ticket.DoesNotExist, NotAllowed, StaleTicket and MoveRefused.
    """
    actor = acting(user)
    ticket = held(ticket_id, version)
    if to != Status.INCOMPLETE:
        requested = ()
    was, reason = Status(ticket.status), naming(reason.strip(), requested)
    changes = {"requested": list(requested)} if requested else {}
    change_status(ticket, to, actor, reason=reason, changes=changes)
    if needs_reason(was, to) and not reason:
        raise MoveRefused(f"Say why: a move from {was.label} to {to.label} needs a reason.")
    if reason and to in TOLD:
        say(ticket, actor, reason)
    return ticket


@transaction.atomic
def write(
    ticket_id: int,
    text: str,
    *,
    user: User,
    public: bool,
    version: int | None = None,
    requested: Sequence[str] = (),
) -> None:
    """Add a reply that the company reads, or a note that it does not.

    A reply may ask for documents where the ticket stays; a note asks nobody. A reply to what is
    no longer so is refused; a note never is. Raises Ticket.DoesNotExist, NotAllowed, StaleTicket,
    and ValueError where there is no text.
    """
    actor, asked = acting(user), list(requested) if public else []
    text = naming(text.strip(), asked)
    if not text:
        raise ValueError("Write something.")
    ticket = held(ticket_id, version if public else None)
    if asked:
        remember(ticket, actor, reason="asked for documents", changes={"requested": asked})
    say(ticket, actor, text, public=public)


@transaction.atomic
def answer(
    ticket_id: int,
    text: str,
    *,
    user: User,
    public: bool,
    to: Status,
    version: int | None = None,
    requested: Sequence[str] = (),
) -> None:
    """Write and move in one go. The text is said once: as the move's reason, where it has one.

    A note is nobody's reason but the agents'. Raises what `move` and `write` raise.
    """
    ticket = held(ticket_id, version)
    told = public and to in TOLD
    kept = needs_reason(Status(ticket.status), to) and to not in TOLD
    reason = text if told or kept else ""
    move(ticket_id, to, user=user, reason=reason, version=version, requested=requested)
    if text.strip() and not told:
        asked = requested if to not in TOLD else ()
        write(ticket_id, text, user=user, public=public, requested=asked)


def held(ticket_id: int, version: int | None) -> Ticket:
    """The ticket, locked. Raises Ticket.DoesNotExist, and StaleTicket for another version."""
    ticket = Ticket.objects.hold(ticket_id)
    if version is not None and version != ticket.version:
        raise StaleTicket(f"The ticket has changed: it is in {Status(ticket.status).label} now.")
    return ticket


def naming(reason: str, requested: Sequence[str]) -> str:
    """The reason, and below it whatever it does not name of the documents asked for."""
    unnamed = [one for one in requested if one.casefold() not in reason.casefold()]
    if not unnamed:
        return reason
    return "\n".join([*filter(None, [reason]), "Please send:", *(f"- {one}" for one in unnamed)])
