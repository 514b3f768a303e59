"""Errors for a company that has reached the limits on its texts (decision N40)."""

from collections.abc import Callable
from functools import wraps
from typing import Any

from rest_framework.response import Response

from companies.api.views import LimitReached, Unprocessable
from tickets.changes.text_bounds import TextOfDaySpent, TooManyComments

TEXT_OF_DAY = {
    "text_limit": "You have sent 64 MiB of text today; the day ends at midnight UTC.",
}
FULL_TICKET = {"too_many_comments": "A ticket has at most 5000 comments."}


def stores_text(handler: Callable[..., Response]) -> Callable[..., Response]:
    """Answer exceeded limits on a company's texts with errors; decorates handlers."""

    @wraps(handler)
    def bounded(*args: Any, **kwargs: Any) -> Response:
        try:
            return handler(*args, **kwargs)
        except TooManyComments as error:
            raise Unprocessable(str(error), code="too_many_comments") from error
        except TextOfDaySpent as error:
            raise LimitReached(str(error), code="text_limit", wait=error.wait) from error

    return bounded
