"""A second party at each lock of this app."""

from datetime import timedelta
from functools import partial
from uuid import uuid4

import pytest
from django.contrib.auth.models import User
from django.core.exceptions import ValidationError
from django.utils import timezone

from desk.first_run.hours import HoursForm, give_shifts, set_hours
from desk.joining import agent_files, invitations
from desk.models import Invitation, SavedView, SignOn, Storm, StormReply
from desk.people import leavers, resets, second_factor
from desk.people.mailed_links import LinkOver
from desk.people.sign_on import identities
from desk.queue import views
from desk.storms import replies, services
from desk.ticket import leaving, pending
from tests import builders as build
from tests.locks import MakePair, Pair, in_transaction, pairs_in, play, shows, twice
from tickets.changes.writes import StaleTicket
from tickets.models import Comment, PendingAnswer, Phone, UnfinishedFile
from tickets.statuses import Status

ADDRESS = "ada@desk.example"
IDENTITY = identities.Identity("subject", ADDRESS, ("Ada", "L."), None)


def ada() -> User:
    user = build.agent("ada").user
    user.email = ADDRESS
    user.save()
    return user


def eve() -> User:
    return build.agent("eve", group="lead", available=False).user


@shows("desk/first_run/hours.py::set_hours")
def set_the_hours() -> Pair:
    form = HoursForm({"time_zone": "UTC", "days": ["0"], "starts": "09:00", "ends": "18:00"})
    assert form.is_valid(), form.errors
    return twice(partial(set_hours, form, eve()))


@shows("desk/first_run/hours.py::give_shifts")
def give_shifts_once() -> Pair:
    form = HoursForm({"time_zone": "UTC", "days": ["0"], "starts": "09:00", "ends": "18:00"})
    assert form.is_valid(), form.errors
    return twice(partial(give_shifts, form, eve()), 0)


@shows("desk/joining/agent_files.py::locked_users")
def bring_the_same_agent_up_to_date() -> Pair:
    return twice(in_transaction(partial(agent_files.locked_users, [ada().username])))


@shows("desk/joining/invitations.py::locked")
def accept_what_is_revoked() -> Pair:
    user = ada()
    Invitation.objects.create(user=user, sent_at=timezone.now())
    return Pair(
        first=partial(invitations.revoke, user.pk),
        second=partial(invitations.accept, user, "a long enough phrase"),
        gives=LinkOver,
    )


@shows("desk/people/leavers.py::forget_user")
def forget_the_same_person() -> Pair:
    user = ada()
    User.objects.update(is_active=False)
    return twice(partial(leavers.forget_user, user))


@shows("desk/people/resets.py::ask_reset")
def ask_for_the_last_link() -> Pair:
    ask = partial(
        resets.ask_reset,
        "nobody",
        address="192.0.2.1",
        device_of=lambda name: None,
        url="https://desk.example",
    )
    for _ in range(resets.OF_A_NAME - 1):
        ask()
    return twice(ask, resets.TooManyResets)


@shows("desk/people/resets.py::set_by_link")
def use_the_same_link() -> Pair:
    user = ada()
    token = resets.reset_tokens.make_token(user)
    use = partial(resets.set_by_link, user, token, "a long enough phrase")
    return twice(use, LinkOver)


@shows("desk/people/second_factor.py::begin_setup")
def begin_the_same_setup() -> Pair:
    user = ada()

    def count_begun() -> int:
        second_factor.begin_setup(user)
        return Phone.objects.count()

    return twice(count_begun, gives=1)


@shows("desk/people/second_factor.py::confirm_setup")
def confirm_the_same_setup() -> Pair:
    user = ada()
    phone = second_factor.begin_setup(user)
    confirm = partial(second_factor.confirm_setup, user, phone.pk, "000000", session_key=None)
    return Pair(
        first=partial(second_factor.begin_setup, user),
        second=confirm,
        gives=second_factor.Refused,
    )


@shows("desk/people/second_factor.py::check_code")
def spend_the_same_code() -> Pair:
    user = ada()
    code = second_factor.make_codes(user)[0]
    return twice(partial(second_factor.check_code, user, code), second_factor.Refused)


@shows("desk/people/sign_on/identities.py::bind_user")
def come_in_twice() -> Pair:
    SignOn.objects.create(user=ada(), issuer="", subject=IDENTITY.subject)
    return twice(in_transaction(partial(identities.bind_user, IDENTITY)))


@shows("desk/people/sign_on/identities.py::user_by_email")
def bind_the_same_user() -> Pair:
    ada()
    other = {"sub": "other", "email": ADDRESS, "email_verified": True, "given_name": "Ada"}
    return Pair(
        first=partial(identities.bind_user, IDENTITY),
        second=partial(identities.admit, other),
        gives=identities.SignOnRefused,
    )


@shows("desk/people/sign_on/identities.py::forget_sign_on")
def unbind_the_same_user() -> Pair:
    user = ada()
    SignOn.objects.create(user=user, issuer="", subject=IDENTITY.subject)
    return twice(partial(identities.forget_sign_on, user), gives=False)


@shows("desk/queue/views.py::save_view")
def save_the_last_view() -> Pair:
    user = ada()
    others = [SavedView(owner=user, name=str(number)) for number in range(1, views.MOST_OWN)]
    SavedView.objects.bulk_create(others)
    save = partial(views.save_view, user, query="", shared=False)
    return Pair(
        first=partial(save, name="One"), second=partial(save, name="Other"), gives=ValidationError
    )


def storm(state: Storm.State = Storm.State.OPEN) -> Storm:
    hour = timezone.now() - timedelta(hours=2)
    storm = Storm.objects.create(
        carrier_name="redpack", hour=hour, found=12, usual=1.0, state=state, title="Strike"
    )
    storm.tickets.add(build.ticket(build.company(), carrier_name="redpack"))
    return storm


@shows("desk/storms/replies.py::start_reply")
def send_the_same_reply() -> Pair:
    send = partial(replies.start_reply, storm().pk, "Hello.", user=eve(), key=uuid4())

    def count_sent() -> int:
        send()
        return StormReply.objects.count()

    return twice(count_sent, gives=1)


@shows("desk/storms/replies.py::answer_batch")
def answer_the_same_tickets() -> Pair:
    reply = StormReply.objects.create(
        storm=storm(), key=uuid4(), user=eve(), text="Hello.", upto=2**40
    )

    def count_answers() -> int:
        replies.answer_batch(reply.pk)
        return Comment.objects.count()

    # Without the lock on the reply the second run waits for the ticket, and answers it again.
    return twice(count_answers, gives=1)


def pending_answer(**changes: object) -> PendingAnswer:
    ticket = build.ticket(build.company(), status=Status.IN_REVIEW)
    user, now = ada(), timezone.now()
    fields = {"ticket": ticket, "user": user, "text": "Hello.", "due_at": now, **changes}
    return PendingAnswer.objects.create(**fields)


@shows("desk/ticket/leaving.py::send_due_answer")
def send_the_same_answer() -> Pair:
    answer = pending_answer()

    def count_sent() -> int:
        leaving.send_answer(answer.pk)
        return Comment.objects.count()

    return twice(count_sent, gives=1)


@shows("desk/ticket/pending.py::take_back_batch")
def take_back_what_leaves() -> Pair:
    answer = pending_answer()
    return Pair(
        first=partial(leaving.send_answer, answer.pk),
        second=partial(pending.take_back_batch, answer.user, answer.batch),
        gives=[],
    )


@shows("desk/ticket/pending.py::send_or_keep")
def send_again_what_is_being_discarded() -> Pair:
    answer = pending_answer(due_at=None)
    return Pair(
        first=PendingAnswer.objects.returned().forget,
        second=partial(pending.send_or_keep, answer),
        gives=StaleTicket,
    )


@shows("tickets/models/pending_answers.py::PendingAnswerQuerySet.forget")
def discard_the_same_answer() -> Pair:
    pending_answer(due_at=None, files=[{"stored_as": "files/x"}])

    def count_left() -> int:
        PendingAnswer.objects.returned().forget()
        return UnfinishedFile.objects.count()

    return twice(count_left, gives=1)


@shows("desk/storms/services.py::decide")
def dismiss_the_same_storm() -> Pair:
    proposed = storm(Storm.State.PROPOSED)
    dismiss = partial(services.decide, proposed.pk, Storm.State.DISMISSED, user=eve())
    return twice(dismiss, services.StormRefused)


@shows("desk/storms/services.py::link_tickets_to_storm")
def link_the_same_tickets() -> Pair:
    return twice(partial(services.link_tickets_to_storm, storm().pk))


@pytest.mark.usefixtures("rows_to_keep")
@pytest.mark.parametrize("make", pairs_in(__name__), ids=lambda make: make.__name__)
def test_second_party_waits_or_passes_by(make: MakePair) -> None:
    play(make())
