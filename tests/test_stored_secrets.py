"""A copy of the database grants no access: no column holds a secret in clear."""

import re
from base64 import b32encode

import pytest
from django.contrib.sessions.models import Session
from django.core import signing
from django.db import connection
from django.test import Client
from rest_framework.test import APIClient

from companies import services
from core.models import Mail
from tests import builders as build
from tests.desk.test_two_factor import code_of, key_on_page
from tickets.changes import letters
from tickets.models import Phone

pytestmark = pytest.mark.django_db
TABLES = """
SELECT oid::regclass::text FROM pg_class
WHERE relkind IN ('r', 'p') AND NOT relispartition AND relnamespace = 'public'::regnamespace
"""


def rows_with(secret: str) -> list[str]:
    """Return the tables in which a row contains the text, also as the bytes of a bytea."""
    with connection.cursor() as cursor:
        cursor.execute(TABLES)
        tables = [name for (name,) in cursor.fetchall()]
        leaking = []
        for table in tables:
            texts = [f"%{secret}%", f"%{secret.encode().hex()}%"]
            cursor.execute(
                f"SELECT EXISTS (SELECT FROM {table} AS a_row WHERE a_row::text LIKE ANY (%s))",  # noqa: S608
                [texts],
            )
            if cursor.fetchone() == (True,):
                leaking.append(table)
    return leaking


def token_in(mail: Mail) -> str:
    match = re.search(r"/admin/[a-z-]+/\w+/([\w-]+)/", str(mail.secret_text))
    assert match, mail.subject
    return match[1]


def desk_secrets() -> dict[str, str]:
    """Sign in, set up a second factor, request a new password and begin to set it."""
    user = build.agent("ada").user
    user.email, user.is_superuser = "ada@desk.example", True
    user.save()
    client = Client()
    client.post("/admin/login/", {"username": "ada", "password": "secret"})
    client.post("/admin/second-factor/", {"begin": "1", "password": "secret"})
    seed = key_on_page(client)
    code = code_of(Phone.objects.get())
    page = client.post("/admin/second-factor/", {"code": code}).content.decode()
    recovery = re.findall(r"<li>(\w{12})</li>", page)
    file = "login,e-mail\neve,eve@desk.example\n"
    client.post("/admin/agents/add/", {"step": "add", "text": file})
    Client().post("/admin/password-reset/", {"name": "ada"})
    reset, invitation = (
        token_in(Mail.objects.get(address=f"{name}@desk.example")) for name in ("ada", "eve")
    )
    link = re.search(r"http://testserver(/admin/password-reset/\S+)", str(newest_to("ada")))
    assert link
    resetting = Client()
    form = resetting.get(link[1], follow=True)
    assert 'name="new_password1"' in form.content.decode()
    return {
        "session": str(client.session.session_key),
        "session of a new password": str(resetting.session.session_key),
        "reset": reset,
        "invitation": invitation,
        "seed": seed.hex(),
        "seed as shown": b32encode(seed).decode(),
        "recovery code": recovery[0],
    }


def newest_to(name: str) -> str | None:
    return Mail.objects.filter(address=f"{name}@desk.example").latest("created_at").secret_text


def api_secrets() -> dict[str, str]:
    """Issue tokens, create a webhook with a token of its own, and change its secret."""
    company = build.company()
    token = services.issue_token(company.pk)
    api = APIClient(headers={"Authorization": f"Bearer {token}"})
    body = {
        "url": "https://hooks.example.com/in",
        "auth_token": "token-of-the-receiver",
    }
    answer = api.post("/webhooks", body, headers={"Idempotency-Key": "one"}, format="json").json()
    assert "data" in answer, answer
    changed = api.post(f"/webhooks/{answer['data']['id']}/secret", {}, format="json").json()
    ticket = build.ticket(company)
    body = {"ticket_id": ticket.pk}
    opened = api.post("/portal/sessions", body, headers={"Idempotency-Key": "two"}, format="json")
    address = opened.json()["data"]["url"]
    browser = Client()
    browser.get(address)
    company.contact_email = "dev@acme.example"
    company.save()
    letters.email_reminder(ticket, "Please.")
    email = Mail.objects.get(address="dev@acme.example")
    emailed = re.search(r"/c/k/([\w-]+)", str(email.secret_text))
    assert emailed
    return {
        "link to a ticket": emailed[1],
        "address of a session": address.rpartition("/")[2],
        "session of the page": browser.cookies["page_session"].value,
        "token": token,
        "platform token": services.issue_platform_token(name="the platform"),
        "webhook secret": answer["data"]["secret"],
        "next webhook secret": changed["data"]["secret"],
        "auth token": "token-of-the-receiver",
    }


def test_no_column_holds_a_secret_in_clear() -> None:
    secrets = desk_secrets() | api_secrets()

    assert {name: rows_with(secret) for name, secret in secrets.items() if rows_with(secret)} == {}

    assert len(set(secrets.values())) == len(secrets) == 15
    assert "webhooks_webhook" in rows_with("hooks.example.com"), "what is no secret is found"


def test_the_row_of_a_session_opens_nothing() -> None:
    secrets = desk_secrets()

    for row in Session.objects.all():
        thief = Client()
        thief.cookies["sessionid"] = row.session_key
        assert thief.get("/admin/sessions/").status_code == 302
        with pytest.raises(signing.BadSignature):
            signing.loads(
                row.session_data, salt="django.contrib.sessions.SessionStore", max_age=None
            )
        assert secrets["reset"] not in row.session_data
