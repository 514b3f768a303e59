"""Resolution of host names to addresses we may connect to, without blocking the loop.

Answers are cached and refreshed, so that a delivery rarely waits for one. One forbidden address
spoils the name: whoever mixes a private address into an answer does so on purpose.
"""

import time
from collections import OrderedDict, deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from deliveries.http.answers import Failure
from deliveries.http.name_servers import LookupResult, NameServers
from webhooks.targets import Policy, is_localhost

Waiter = TypeVar("Waiter")

# Age at which a good answer is refreshed when it is next used.
FRESH_SECONDS = 30.0
# Age up to which it is used while the name servers give no new one.
USABLE_SECONDS = 300.0
# A failure is cached for this long, and twice as long each further time.
FIRST_PAUSE = 5.0
LONGEST_PAUSE = 300.0
MAX_NAMES = 10_000
# More than a transport sends at a time, so that names wait for each other only in a flood.
MAX_QUESTIONS = 5_000
# An answer may hold hundreds of records. All are judged, but only this many are tried.
MAX_ADDRESSES = 8
# An answer with more is refused unread: judging thousands would block the loop.
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
    """Cached results of a name: its last good answer, and its last failure."""

    good: Answer | None = None
    usable_until: float = 0.0
    failure: Answer = LATE
    pause: float = 0.0
    ask_at: float = 0.0


@dataclass(eq=False, slots=True)
class _Question(Generic[Waiter]):
    """A name that is being looked up, and the waiters for its answer."""

    host: str
    deadline: float
    waiters: list[Waiter] = field(default_factory=list)


class Resolver(Generic[Waiter]):
    """Looks names up and caches the `MAX_NAMES` that were used last.

    Belongs to one thread. A good answer is used at once, and refreshed when it is older than
    `FRESH_SECONDS`. While the name servers are silent or fail, it is used for `USABLE_SECONDS`.
    A failure is the answer until the name's pause is over. Waiters are opaque. `own` is a name of
    the operator's, with a final dot as no target has it: its addresses are not judged.
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
        # Never looked up (RFC 6761): an entry of the hosts file must not matter.
        self._localhost = Answer(policy.loopback) if policy.loopback else NOT_PUBLIC
        self._names: OrderedDict[str, _Name] = OrderedDict()
        self._questions: OrderedDict[str, _Question[Waiter]] = OrderedDict()
        self._queue: deque[_Question[Waiter]] = deque()
        self._servers: NameServers[_Question[Waiter]] = NameServers(name_servers, clock)

    def resolve(self, host: str, waiter: Waiter, deadline: float) -> Answer | None:
        """Return the cached answer of a name; None means `answers` will return the waiter.

        The first deadline given for a name, on the monotonic clock, holds for all its waiters.
        Deadlines must not decrease from one call to the next.
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
        """Return a descriptor that is readable when `answers` has news."""
        return self._servers.fileno()

    @property
    def next_deadline(self) -> float:
        """Time by which `answers` must be called; infinity if no question is open."""
        first = next(iter(self._questions.values()), None)
        return min(first.deadline if first else float("inf"), self._servers.next_check)

    def answers(self) -> list[tuple[Waiter, Answer]]:
        """Return the waiters whose names were answered or whose time is over, with the answer."""
        ready: list[tuple[Waiter, Answer]] = []
        if not self._questions and not self._servers.open_questions:
            return ready
        for question, result in self._servers.answers():
            # A question past its deadline may still bring addresses, but no failure: the name
            # may have been looked up anew meanwhile.
            if result.addresses or self._questions.get(question.host) is question:
                ready += self._learn(question.host, result)
        now = self._clock()
        while self._questions:
            first = next(iter(self._questions.values()))
            if first.deadline > now:
                break
            ready += self._learn(first.host, LookupResult())
        self._send_questions()
        return ready

    def close(self) -> None:
        """Close, without answers to open questions."""
        self._servers.close()

    def _ask(self, host: str, deadline: float) -> _Question[Waiter]:
        question = self._questions.get(host)
        if question is None:
            question = self._questions[host] = _Question(host, deadline)
            self._queue.append(question)
            self._send_questions()
        return question

    def _send_questions(self) -> None:
        while self._queue and self._servers.open_questions < MAX_QUESTIONS:
            question = self._queue.popleft()
            if self._questions.get(question.host) is question:
                self._servers.ask(question.host, question)

    def _learn(self, host: str, result: LookupResult) -> list[tuple[Waiter, Answer]]:
        """Cache the result of a question; return its waiters with the answer."""
        answer = self._vet(result, bool(host) and host == self._own)
        now = self._clock()
        name = self._names.setdefault(host, _Name())
        self._names.move_to_end(host)
        if len(self._names) > MAX_NAMES:
            self._names.popitem(last=False)
        if answer.error is None:
            name.good, name.usable_until = answer, now + USABLE_SECONDS
            name.pause, name.ask_at = 0.0, now + FRESH_SECONDS
        else:
            if result.addresses or not result.exists:
                name.good = None
            usable = name.good is not None and now < name.usable_until
            longest = FRESH_SECONDS if usable else LONGEST_PAUSE
            name.failure = answer
            name.pause = min(max(2 * name.pause, FIRST_PAUSE), longest)
            name.ask_at = now + name.pause
        question = self._questions.pop(host, None)
        return [(waiter, answer) for waiter in question.waiters] if question else []

    def _vet(self, result: LookupResult, ours: bool) -> Answer:
        if not result.addresses:
            if not result.error:
                return LATE
            return Answer((), Failure.DNS, f"The host name cannot be resolved: {result.error}.")
        if len(result.addresses) > MAX_JUDGED:
            detail = f"The host name has more than {MAX_JUDGED} addresses."
            return Answer((), Failure.DNS, detail)
        for address in result.addresses:
            if not ours and (reason := self._policy.why_forbidden(address)):
                # The address is not revealed: it may say something about an internal network.
                detail = f"The host name resolves to an address that is not public ({reason})."
                return Answer((), Failure.FORBIDDEN_ADDRESS, detail)
        return Answer(result.addresses[:MAX_ADDRESSES])
