"""From a host name to addresses we may connect to, without holding up the loop that asks.

What is known of a name is kept and asked for anew, so that a delivery rarely waits for it. One
forbidden address spoils the name: whoever mixes a private address into an answer means it.
"""

import time
from collections import OrderedDict, deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from deliveries.http.answers import Failure
from deliveries.http.name_servers import Found, NameServers
from webhooks.targets import Policy, is_localhost

Waiter = TypeVar("Waiter")

# After so long a good answer is asked for anew when it is next used.
FRESH_SECONDS = 30.0
# For so long it is used while the name servers give no new one.
USABLE_SECONDS = 300.0
# How long a failure is believed: twice as long each time.
FIRST_PAUSE = 5.0
LONGEST_PAUSE = 300.0
MAX_NAMES = 10_000
# More than a transport sends at a time, so that names wait for each other only in a flood.
MAX_QUESTIONS = 5_000
# An answer may hold hundreds of records. All are judged, so many are tried.
MAX_ADDRESSES = 8
# An answer with more is refused unread: to judge thousands would hold up everybody.
MAX_JUDGED = 256


@dataclass(frozen=True, slots=True)
class Answer:
    """The vetted addresses of a name, or why there are none."""

    addresses: tuple[str, ...] = ()
    error: Failure | None = None
    detail: str = ""


NOT_PUBLIC = Answer(
    (), Failure.FORBIDDEN_ADDRESS, "The host name resolves to one of our own addresses."
)
LATE = Answer((), Failure.DNS, "The host name was not resolved within the time limit.")


@dataclass(slots=True)
class _Name:
    """What is known of a name: its last good answer, and its last failure."""

    good: Answer | None = None
    usable_until: float = 0.0
    failure: Answer = LATE
    pause: float = 0.0
    ask_at: float = 0.0


@dataclass(eq=False, slots=True)
class _Question(Generic[Waiter]):
    """A name that is being asked for, and who waits for the answer."""

    host: str
    deadline: float
    waiters: list[Waiter] = field(default_factory=list)


class Resolver(Generic[Waiter]):
    """Looks names up and keeps what it learnt of the `MAX_NAMES` that were used last.

    Belongs to one thread. A good answer is used at once, and asked for anew when it is older than
    `FRESH_SECONDS`. While the name servers are silent or fail, it is used for `USABLE_SECONDS`.
    A failure is the answer until the name's pause is over. Waiters are whatever the caller likes.
    `own` is a name of the operator's, written with a last dot as no target is: not judged.
    """

    def __init__(
        self,
        policy: Policy,
        name_servers: Sequence[str] = (),
        *,
        own: str = "",
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._own = own
        self._policy = policy
        self._clock = clock
        # Never looked up (RFC 6761): what the hosts file says of it must not matter.
        self._localhost = Answer(policy.loopback) if policy.loopback else NOT_PUBLIC
        self._names: OrderedDict[str, _Name] = OrderedDict()
        self._questions: OrderedDict[str, _Question[Waiter]] = OrderedDict()
        self._unasked: deque[_Question[Waiter]] = deque()
        self._servers: NameServers[_Question[Waiter]] = NameServers(name_servers, clock)

    def resolve(self, host: str, waiter: Waiter, deadline: float) -> Answer | None:
        """Return what is known of the name; None means `answers` will name the waiter.

        The first deadline given for a name, on the monotonic clock, holds for all who wait for it.
        Deadlines must not fall from one call to the next.
        """
        if is_localhost(host):
            return self._localhost
        now = self._clock()
        name = self._names.get(host)
        if name is not None:
            self._names.move_to_end(host)
            if now >= name.ask_at:
                self._ask(host, deadline)
            if name.good is not None and now < name.usable_until:
                return name.good
            if now < name.ask_at:
                return name.failure
        self._ask(host, deadline).waiters.append(waiter)
        return None

    def fileno(self) -> int:
        """A descriptor that is readable when `answers` has news."""
        return self._servers.fileno()

    @property
    def next_deadline(self) -> float:
        """When `answers` must be called at the latest; infinity when nothing is asked."""
        first = next(iter(self._questions.values()), None)
        return min(first.deadline if first else float("inf"), self._servers.next_check)

    def answers(self) -> list[tuple[Waiter, Answer]]:
        """Return the waiters whose names have been answered, or whose time is over."""
        ready: list[tuple[Waiter, Answer]] = []
        if not self._questions and not self._servers.open_questions:
            return ready
        for question, found in self._servers.answers():
            # A question whose time is over may still bring addresses, but no failure: the name
            # may have been asked for anew meanwhile.
            if found.addresses or self._questions.get(question.host) is question:
                ready += self._learn(question.host, found)
        now = self._clock()
        while self._questions:
            first = next(iter(self._questions.values()))
            if first.deadline > now:
                break
            ready += self._learn(first.host, Found())
        self._send_questions()
        return ready

    def close(self) -> None:
        """Let go. What is being asked is not heard."""
        self._servers.close()

    def _ask(self, host: str, deadline: float) -> _Question[Waiter]:
        question = self._questions.get(host)
        if question is None:
            question = self._questions[host] = _Question(host, deadline)
            self._unasked.append(question)
            self._send_questions()
        return question

    def _send_questions(self) -> None:
        while self._unasked and self._servers.open_questions < MAX_QUESTIONS:
            question = self._unasked.popleft()
            if self._questions.get(question.host) is question:
                self._servers.ask(question.host, question)

    def _learn(self, host: str, found: Found) -> list[tuple[Waiter, Answer]]:
        """Keep what came of a question; return who waited for it, and what they are told."""
        answer = self._vetted(found, bool(host) and host == self._own)
        now = self._clock()
        name = self._names.setdefault(host, _Name())
        self._names.move_to_end(host)
        if len(self._names) > MAX_NAMES:
            self._names.popitem(last=False)
        if answer.error is None:
            name.good, name.usable_until = answer, now + USABLE_SECONDS
            name.pause, name.ask_at = 0.0, now + FRESH_SECONDS
        else:
            if found.addresses or not found.exists:
                name.good = None
            usable = name.good is not None and now < name.usable_until
            longest = FRESH_SECONDS if usable else LONGEST_PAUSE
            name.failure = answer
            name.pause = min(max(2 * name.pause, FIRST_PAUSE), longest)
            name.ask_at = now + name.pause
        question = self._questions.pop(host, None)
        return [(waiter, answer) for waiter in question.waiters] if question else []

    def _vetted(self, found: Found, ours: bool) -> Answer:
        if not found.addresses:
            if not found.error:
                return LATE
            return Answer((), Failure.DNS, f"The host name cannot be resolved: {found.error}.")
        if len(found.addresses) > MAX_JUDGED:
            detail = f"The host name has more than {MAX_JUDGED} addresses."
            return Answer((), Failure.DNS, detail)
        for address in found.addresses:
            if not ours and (reason := self._policy.why_forbidden(address)):
                # Which address stays with us: names of an inner network may tell about it.
                detail = f"The host name resolves to an address that is not public ({reason})."
                return Answer((), Failure.FORBIDDEN_ADDRESS, detail)
        return Answer(found.addresses[:MAX_ADDRESSES])
