"""Every page of the desk opens for users with permission, for nobody else, and shows no secret."""

from collections.abc import Iterator

import pytest
from django.contrib import admin
from django.contrib.auth import get_user_model
from django.db.models import Model
from django.test import Client
from django.urls import reverse

from companies import services
from companies.models import Company
from deliveries import publishing
from deliveries.engine import recording
from tests import builders as build
from tests.deliveries.test_recording import claim_one, result

SECRETS = ["5e" * 32, "delivery-token-nobody-sees"]
MODELS = sorted(admin.site._registry, key=lambda model: model._meta.label)


@pytest.fixture
def rows(company: Company) -> str:
    """Create a row in most tables, with secrets; returns the API token."""
    token = services.issue_token(company.pk)
    build.webhook(company, auth_token=SECRETS[1])
    publishing.publish([build.news(company)])
    recording.record_attempts([result(claim_one(), answer=b"<script>alert(1)</script>")])
    return token


def pages(model: type[Model]) -> Iterator[str]:
    name = f"admin:{model._meta.app_label}_{model._meta.model_name}"
    yield reverse(f"{name}_changelist")
    for row in model._default_manager.all()[:1]:
        yield reverse(f"{name}_change", args=[row.pk])


@pytest.mark.parametrize("model", MODELS, ids=lambda model: model._meta.label)
def test_opens_for_the_superuser_and_hides_secrets(
    admin_client: Client, rows: str, model: type[Model]
) -> None:
    for page in pages(model):
        answer = admin_client.get(page)
        html = answer.content.decode()

        assert answer.status_code == 200, page
        assert [secret for secret in [*SECRETS, rows] if secret in html] == []
        assert "<script>alert(1)</script>" not in html


@pytest.mark.parametrize("model", MODELS, ids=lambda model: model._meta.label)
def test_stays_closed_to_staff_without_permission(
    client: Client, rows: str, model: type[Model]
) -> None:
    client.force_login(get_user_model().objects.create_user("newcomer", is_staff=True))

    assert {client.get(page).status_code for page in pages(model)} == {403}


@pytest.mark.parametrize("model", MODELS, ids=lambda model: model._meta.label)
def test_stays_closed_to_strangers(client: Client, rows: str, model: type[Model]) -> None:
    for page in pages(model):
        assert client.get(page).url.startswith(reverse("admin:login"))


@pytest.mark.parametrize("model", MODELS, ids=lambda model: model._meta.label)
def test_every_action_asks_for_a_permission(model: type[Model]) -> None:
    desk = admin.site._registry[model]
    actions = [desk.get_action(name) for name in desk.actions or ()]

    assert [name for action, name, _ in actions if not hasattr(action, "allowed_permissions")] == []
