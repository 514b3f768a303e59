"""Advice on what a receiver did with a test request, in a sentence each."""

from django.conf import settings
from django.utils.translation import gettext_noop

from deliveries.http.answers import Failure
from deliveries.on_demand.sample_delivery import REASONS, Result
from webhooks.models import Webhook

REDIRECT = gettext_noop(
    "We follow no redirects. Set this webhook's url to where the redirect leads."
)
REFUSED = gettext_noop(
    "The receiver does not let us in. If it checks a token, set it as this webhook's auth_token;"
    " if it verifies the signature, see that it has this webhook's secret, and uses the bytes of"
    " the body as they came."
)
BY_STATUS = {
    400: gettext_noop(
        "The receiver finds the request wrong. See that it reads the body as JSON, and which field"
        " it misses."
    ),
    401: REFUSED,
    403: REFUSED,
    404: gettext_noop("The receiver knows no such path. Check this webhook's url."),
    405: gettext_noop("The receiver must take POST at this path."),
    410: gettext_noop("410 tells us to stop: a delivery that gets it pauses this webhook."),
    413: gettext_noop("The receiver refuses a body of this size. Allow at least 64 KiB."),
    415: gettext_noop("The receiver must take bodies of the type application/json."),
    429: gettext_noop(
        "The receiver takes no more requests at present. Set max_in_flight to spare it."
    ),
}
SLOW = gettext_noop(
    "The receiver took more than half of the time that it has. Answer first and work afterwards."
)
FAILED = gettext_noop("The receiver failed. Its own log says why.")
OTHER = gettext_noop("Answer with any status from 200 to 299 once you have stored the event.")
BY_FAILURE = {
    Failure.TIMEOUT: gettext_noop(
        "Answer first and work afterwards: store the event, answer 2xx, and do the"
        " rest in the background."
    ),
    Failure.DNS: gettext_noop(
        "Check this webhook's url, its name in the DNS, and that its port is open to the"
        " Internet: it must lead to a public address."
    ),
    Failure.TLS: gettext_noop(
        "Serve a certificate of a public authority that is valid now and for this name,"
        " together with its intermediate certificates, over TLS 1.2 or newer."
    ),
    Failure.RESET: gettext_noop(
        "See that an HTTP server listens at this port, with TLS, and that no firewall"
        " cuts the connection."
    ),
}
# Keyed by sentence: failures that companies must not tell apart share one.
BY_REASON = {REASONS[failure]: sentence for failure, sentence in BY_FAILURE.items()}

ACCEPTS_TAMPERED = gettext_noop(
    "The receiver accepted a request whose body was changed after it was signed. Verify"
    " X-Webhook-Signature over the bytes of the body before you use them, and answer 401 where it"
    " is wrong."
)
FAILS_AT_TAMPERED = gettext_noop(
    "The receiver failed on a wrong signature instead of refusing it. Answer 401: anyone on the"
    " Internet can send one."
)
SILENT_AT_TAMPERED = gettext_noop(
    "The receiver gave no answer to a wrong signature, so it is not known whether it verifies."
    " Answer 401."
)
ACCEPTS_OLD = gettext_noop(
    "The receiver accepted a request that was signed ten minutes ago, so whoever has recorded one"
    " can send it again. Refuse an X-Webhook-Timestamp that is more than five minutes off, with"
    " 401."
)
ACCEPTS_ANYBODY = gettext_noop(
    "The receiver accepted a request with a wrong token, so anybody can send to it. Compare the"
    " header Authorization with Bearer and this webhook's auth_token, and answer 401 where it"
    " differs."
)
PAUSED = gettext_noop("This webhook is paused. It gets its deliveries once it is active.")


def on_request(result: Result) -> list[str]:
    """Return advice on the valid request."""
    if result.status is None:
        sentence = BY_REASON.get(result.error or "")
        return [sentence] if sentence else []
    if result.delivered:
        return on_slowness(result)
    if result.status in BY_STATUS:
        return [BY_STATUS[result.status]]
    if 300 <= result.status < 400:
        return [REDIRECT]
    return [FAILED if result.status >= 500 else OTHER]


def on_slowness(result: Result) -> list[str]:
    return [SLOW] if result.duration_ms > settings.DELIVERY_TIMEOUT_SECONDS * 500 else []


def on_tampered(result: Result) -> list[str]:
    """Return advice on the request whose body was changed."""
    if result.status is None:
        return [SILENT_AT_TAMPERED]
    if result.delivered:
        return [ACCEPTS_TAMPERED]
    return [FAILS_AT_TAMPERED] if result.status >= 500 else []


def on_webhook(webhook: Webhook) -> list[str]:
    """Return advice on the webhook itself."""
    return [] if webhook.active else [PAUSED]
