"""A second party at each lock of this app."""

from functools import partial

import pytest

from tests import builders as build
from tests.locks import MakePair, Pair, pairs_in, play, shows, twice
from webhooks import services

URL = "https://hooks.example.com/new"


@shows("webhooks/services.py::lock_webhooks")
def register_the_same_url() -> Pair:
    company = build.company()
    register = partial(services.register_webhook, company, type_id=1, url=URL)
    return twice(register, services.AlreadyRegistered)


@shows("webhooks/services.py::lock_webhook")
def delete_the_same_webhook() -> Pair:
    webhook = build.webhook(build.company())
    delete = partial(services.delete_webhook, webhook.company, webhook.pk)
    return twice(delete, services.UnknownWebhook)


@shows("webhooks/services.py::resume")
def resume_the_same_webhook() -> Pair:
    webhook = build.webhook(build.company(), active=False)
    return twice(partial(services.resume, webhook.pk), gives=False)


@pytest.mark.usefixtures("rows_to_keep")
@pytest.mark.parametrize("make", pairs_in(__name__), ids=lambda make: make.__name__)
def test_second_party_waits_or_passes_by(make: MakePair) -> None:
    play(make())
