"""The corpus of target URLs at the doors of the API: none but a good one gets in."""

import json

from rest_framework.test import APIClient

from companies.models import Company
from tests import builders as build
from tests.corpora import ssrf_urls
from webhooks.models import Webhook


def body(url: str) -> dict[str, str]:
    # As ASCII: the corpus holds half a surrogate pair, which no other way writes down.
    return {"data": json.dumps({"url": url}), "content_type": "application/json"}


def test_registering_takes_the_good_and_refuses_the_bad(api: APIClient) -> None:
    wrong = []
    for row in ssrf_urls():
        answer = api.post("/webhooks", **body(row.url))
        # What a name resolves to is asked when a delivery connects.
        may_pass = row.good or row.answers != "-"
        if answer.status_code != (200 if may_pass else 400):
            wrong.append((row, answer.status_code))

    assert wrong == []
    assert {webhook.url for webhook in Webhook.objects.all()} == {
        row.url for row in ssrf_urls() if row.good or row.answers != "-"
    }


def test_changing_takes_the_good_and_refuses_the_bad(api: APIClient, company: Company) -> None:
    webhook = build.webhook(company)
    wrong = []
    for row in ssrf_urls():
        before = Webhook.objects.get().url
        answer = api.put(f"/webhooks/{webhook.pk}", **body(row.url))
        may_pass = row.good or row.answers != "-"
        after = row.url if may_pass else before
        if (answer.status_code == 200) != may_pass or Webhook.objects.get().url != after:
            wrong.append((row, answer.status_code))

    assert wrong == []
