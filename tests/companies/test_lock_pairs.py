"""A second party at each lock of this app."""

from functools import partial

import pytest
from django.utils import timezone

from companies import erasing, restoring, services
from companies.api import bundles
from companies.models import Erasure, KeptBundle
from tests import builders as build
from tests.conftest import signed_in
from tests.locks import MakePair, Pair, pairs_in, play, shows, twice


def bundle() -> KeptBundle:
    return KeptBundle.objects.create(key="k", fingerprint="f", created_at=timezone.now())


@shows("companies/api/bundles.py::begin_bundle")
def begin_the_same_bundle() -> Pair:
    key = bundle().key
    bundles.answer_bundle(key, {"number": 1})
    # Whoever reads the answer locks the row and writes nothing.
    return Pair(
        first=partial(bundles.answer_bundle, key, {"number": 2}),
        second=partial(bundles.begin_bundle, key, "f"),
        gives={"number": 1},
    )


@shows("companies/api/bundles.py::answer_bundle")
def answer_the_same_bundle() -> Pair:
    answer = partial(bundles.answer_bundle, bundle().key)
    return Pair(
        first=partial(answer, {"number": 1}),
        second=partial(answer, {"number": 2}),
        gives={"number": 1},
    )


@shows("companies/api/idempotency.py::kept_response")
def post_with_the_same_key() -> Pair:
    api = signed_in(build.company())
    # The first request records the token's use; the second would wait for that row.
    api.get("/webhooks")

    def post() -> int:
        headers = {"Idempotency-Key": "one"}
        return api.post("/company/tickets", {"type_id": 2}, headers=headers).status_code

    return twice(post, gives=409, waits=False)


@shows("companies/erasing.py::begin_erasure")
def erase_the_same_company() -> Pair:
    company = build.company()

    def count_begun() -> int:
        erasing.begin_erasure(company.pk)
        return Erasure.objects.count()

    return twice(count_begun, gives=1)


@shows("companies/restoring.py::begin_repair")
def begin_the_same_repair() -> Pair:
    one, other = ([restoring.SequenceMove("a_sequence", "a_table", 0, target)] for target in (5, 9))
    begin = partial(restoring.begin_repair, lost_since=timezone.now())
    return Pair(first=partial(begin, one), second=partial(begin, other), gives=one)


@shows("companies/services.py::revoke_one")
def revoke_the_same_token() -> Pair:
    token = services.issue_token(build.company().pk)
    return twice(partial(services.revoke_token, token), services.UnknownToken)


@shows("companies/services.py::revoke_tokens_of")
def revoke_all_tokens_of_the_same_company() -> Pair:
    company = build.company()
    services.issue_token(company.pk)
    return twice(partial(services.revoke_tokens_of, company.pk), gives=[])


@shows("companies/services.py::set_active")
def switch_the_same_company_off() -> Pair:
    return twice(partial(services.set_active, build.company().pk, False), gives=False)


@pytest.mark.usefixtures("rows_to_keep")
@pytest.mark.parametrize("make", pairs_in(__name__), ids=lambda make: make.__name__)
def test_second_party_waits_or_passes_by(make: MakePair) -> None:
    play(make())
