"""Large bodies are allowed only in requests with valid credentials."""

from django.contrib.sessions.models import Session
from django.test import Client
from django.utils import timezone
from rest_framework.test import APIClient

from config.door import credentials


def test_live_token_is_a_credential(api: APIClient, db: None) -> None:
    authorization = api._credentials["HTTP_AUTHORIZATION"]

    assert credentials.are_known([("AUTHORIZATION", authorization)], "/webhooks")
    assert not credentials.are_known([("AUTHORIZATION", authorization + "x")], "/webhooks")
    assert not credentials.are_known([("HOST", "x")], "/webhooks")


def test_cookie_of_a_live_session_is_a_credential(admin_client: Client) -> None:
    key = admin_client.cookies["sessionid"].value

    assert credentials.are_known([("COOKIE", f"a=1; sessionid={key}")], "/webhooks")
    Session.objects.update(expire_date=timezone.now())
    assert not credentials.are_known([("COOKIE", f"a=1; sessionid={key}")], "/webhooks")
