"""Changes of webhooks on the page are audited as those by API are, with a word for the page."""

import pytest
from django.http import HttpResponse
from django.test import Client
from django.urls import path

from companies.models import AuditEntry, Company
from config import urls
from portal.visitors import VisitorRequest, company_page
from tests import builders as build
from tests.portal.conftest import Enter, csrf_of
from webhooks import services
from webhooks.models import Webhook


@company_page(scope="webhooks")
def pause_page(request: VisitorRequest, webhook_id: int) -> HttpResponse:
    services.change_webhook(request.visitor.company, webhook_id, active=False)
    return HttpResponse(status=303)


urlpatterns = [path("c/pause/<int:webhook_id>", pause_page), *urls.urlpatterns]


@pytest.mark.urls("tests.portal.test_webhook_audit")
def test_an_act_names_the_session_and_the_token_that_asked_for_it(
    company: Company, by_session: Enter
) -> None:
    webhook = build.webhook(company)
    visitor = by_session(company)
    form = {"csrf": csrf_of(visitor)}

    assert visitor.post(f"/c/pause/{webhook.pk}", form).status_code == 303

    entry = AuditEntry.objects.get(act="change_webhook")
    (session,) = company.portal_sessions.all()
    assert (entry.actor, entry.via, entry.company_id) == ("company", "api", company.pk)
    assert (entry.about, entry.outcome) == (f"webhook {webhook.pk}", "done")
    assert entry.details == {
        "token": "test_page",
        "page": f"session {session.pk}",
        "fields": "active",
        "active": 0,
    }


@pytest.mark.urls("tests.portal.test_webhook_audit")
def test_an_act_after_it_is_not_the_visitors(
    company: Company, by_session: Enter, admin_client: Client
) -> None:
    webhook = build.webhook(company)
    visitor = by_session(company)
    visitor.post(f"/c/pause/{webhook.pk}", {"csrf": csrf_of(visitor)})

    admin_client.get("/healthz")
    services.resume(webhook.pk)

    assert AuditEntry.objects.filter(act="change_webhook").count() == 1
    assert Webhook.objects.get().active
