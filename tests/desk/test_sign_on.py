"""Single sign-on admits the users that the provider vouches for, and nobody else."""

from collections.abc import Iterator
from io import StringIO
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command
from django.http import HttpResponse
from django.test import Client
from pytest_django import Settings

from companies.models import AuditEntry
from core.models import Mail
from desk import doctor_checks
from desk.joining import invitations
from desk.models import Invitation, SignOn
from desk.people.sign_on import provider as known_provider
from tests import builders as build
from tests.desk.sign_on_provider import (
    CLIENT_ID,
    CLIENT_SECRET,
    FakeProvider,
    query_of,
    running_provider,
)
from tests.desk.test_sessions import inside
from tests.desk.test_two_factor import switch_on
from tickets import roles
from tickets.models import Agent

pytestmark = pytest.mark.django_db
BEGIN, BACK, LOGIN = "/admin/sign-on/", "/admin/sign-on/back/", "/admin/login/"
NOT_TRUSTED = "could not be trusted"


@pytest.fixture(autouse=True)
def ada(db: None) -> User:
    user = build.agent("ada").user
    user.email = "Ada@desk.example"
    user.save()
    return user


@pytest.fixture
def provider(settings: Settings) -> Iterator[FakeProvider]:
    known_provider.PROVIDER.forget()
    with running_provider() as running:
        settings.OIDC_ISSUER = running.issuer
        settings.OIDC_CLIENT_ID = CLIENT_ID
        settings.OIDC_CLIENT_SECRET = CLIENT_SECRET
        yield running


def begin(client: Client, page: str = "") -> dict[str, str]:
    """Return the query that the desk sends to the provider."""
    return query_of(client.get(BEGIN, {"next": page} if page else {}).headers["Location"])


def come_back(client: Client, query: dict[str, str], code: str) -> HttpResponse:
    return client.get(BACK, {"code": code, "state": query["state"]})


def sign_on(
    provider: FakeProvider, client: Client | None = None, page: str = "", **claims: Any
) -> HttpResponse:
    client = client or Client()
    query = begin(client, page)
    return come_back(client, query, provider.grant(query, **claims))


def refusal(provider: FakeProvider, **claims: Any) -> str:
    """Return the page for a user who is not let in."""
    client = Client()
    answer = sign_on(provider, client, **claims)
    assert answer.status_code == 403
    assert not inside(client)
    assert CLIENT_SECRET not in answer.content.decode()
    return answer.content.decode()


def outcome() -> str:
    return AuditEntry.objects.filter(act="sign_on").order_by("-pk")[0].outcome


@pytest.mark.parametrize("path", [BEGIN, BACK, "/admin/sign-on/sign-out/"])
def test_is_off_without_an_issuer(client: Client, path: str) -> None:
    assert client.get(path).status_code == 404
    assert BEGIN not in client.get(LOGIN).content.decode()


@pytest.mark.parametrize("alg", ["RS256", "ES256"])
def test_a_verified_address_opens_the_desk(
    provider: FakeProvider, client: Client, ada: User, alg: str
) -> None:
    answer = sign_on(provider, client, alg=alg)

    assert answer.headers["Location"] == "/admin/"
    assert inside(client)
    assert SignOn.objects.get(user=ada).subject == "subject-of-ada"
    entry = AuditEntry.objects.get(act="sign_on")
    assert (entry.actor, entry.outcome) == ("ada", "done")
    assert entry.details == {"made": False, "bound": True}


def test_the_provider_is_asked_with_pkce_state_and_nonce(
    provider: FakeProvider, client: Client
) -> None:
    query, other = begin(client), begin(Client())

    assert query["response_type"] == "code"
    assert query["code_challenge_method"] == "S256"
    assert "openid" in query["scope"].split()
    assert query["redirect_uri"] == f"http://testserver{BACK}"
    for secret in ("state", "nonce", "code_challenge"):
        assert len(query[secret]) >= 20
        assert query[secret] != other[secret]


@pytest.mark.parametrize(
    "claims",
    [
        {"nonce": "another"},
        {"nonce": None},
        {"aud": "another-client"},
        {"aud": []},
        {"aud": [CLIENT_ID, "another-client"], "azp": "another-client"},
        {"iss": "https://another.example"},
        {"exp": 1000},
        {"ends_in": -90},
        {"begins_in": 900},
        {"sub": ""},
        {"sub": 7},
        {"alg": "none"},
        {"alg": "HS256", "kid": "RS256"},
        {"alg": "RS256", "kid": "ES256"},
        {"alg": "RS256", "kid": "nobody's"},
    ],
    ids=str,
)
def test_a_token_that_proves_nothing_opens_nothing(
    provider: FakeProvider, claims: dict[str, Any]
) -> None:
    assert NOT_TRUSTED in refusal(provider, **claims)
    assert not SignOn.objects.exists()


def test_a_clock_may_be_a_minute_wrong(provider: FakeProvider, client: Client) -> None:
    sign_on(provider, client, ends_in=-20)

    assert inside(client)


def test_an_answer_counts_once_and_in_the_browser_that_asked(
    provider: FakeProvider, client: Client
) -> None:
    query = begin(client)
    cookie = client.cookies["sign_on"].value
    thief, code = Client(), provider.grant(query)

    assert come_back(thief, query, code).status_code == 400
    assert client.get(BACK, {"code": code, "state": "guessed"}).status_code == 400
    client.cookies["sign_on"] = cookie
    assert come_back(client, query, code).status_code == 302

    again = Client()
    again.cookies["sign_on"] = cookie
    assert come_back(again, query, provider.grant(query)).status_code == 400
    assert not inside(again)
    assert not inside(thief)


def test_a_code_without_our_verifier_is_refused(provider: FakeProvider, client: Client) -> None:
    query = begin(client)
    code = provider.grant(query | {"code_challenge": "another"})

    assert NOT_TRUSTED in come_back(client, query, code).content.decode()


@pytest.mark.parametrize("verified", [False, None, "false"])
def test_an_address_that_is_not_verified_names_nobody(
    provider: FakeProvider, verified: object
) -> None:
    assert "verified" in refusal(provider, email_verified=verified)
    assert outcome() == "refused: unverified_email"


@pytest.mark.parametrize("email", ["nobody@desk.example", "", "ad\u0430@desk.example"])
def test_somebody_unknown_is_refused(provider: FakeProvider, email: str) -> None:
    refusal(provider, email=email)
    assert User.objects.count() == 1


@pytest.mark.parametrize("stored_address", ["mike@desk.example", "m\u0131ke@desk.example"])
def test_letters_that_only_look_alike_name_nobody(
    provider: FakeProvider, ada: User, stored_address: str
) -> None:
    User.objects.filter(pk=ada.pk).update(email=stored_address)
    other_addresses = {"mike@desk.example", "m\u0131ke@desk.example"} - {stored_address}

    refusal(provider, email=other_addresses.pop())

    assert outcome() == "refused: unknown"


def test_letters_that_look_alike_take_the_place_of_nobody(
    provider: FakeProvider, client: Client
) -> None:
    for number, email in enumerate(("\u0131rina@desk.example", "ir\u0131na@desk.example")):
        User.objects.filter(pk=build.agent(f"alike-{number}").user_id).update(email=email)
    irina = build.agent("irina").user
    User.objects.filter(pk=irina.pk).update(email="irina@desk.example")

    sign_on(provider, client, email="irina@desk.example")

    assert client.session["_auth_user_id"] == str(irina.pk)


def test_an_address_of_two_users_names_neither(provider: FakeProvider) -> None:
    User.objects.create_user("twin", email="ada@desk.example", is_staff=True)

    assert "Several users" in refusal(provider)


def test_the_subject_counts_from_then_on(provider: FakeProvider, client: Client, ada: User) -> None:
    sign_on(provider)
    # The address now belongs to a colleague; Ada has another one at the provider.
    assert "another sign-on account" in refusal(provider, sub="subject-of-eve")
    assert outcome() == "refused: bound_to_another"

    sign_on(provider, client, email="ada.new@desk.example", email_verified=False)

    assert client.session["_auth_user_id"] == str(ada.pk)


def test_an_operator_forgets_the_account_before(
    provider: FakeProvider, client: Client, ada: User
) -> None:
    sign_on(provider)
    call_command("forget_sign_on", "ada", "--dry-run", stdout=StringIO())
    refusal(provider, sub="made-anew")

    call_command("forget_sign_on", "ada", stdout=StringIO())
    sign_on(provider, client, sub="made-anew")

    assert inside(client)
    with pytest.raises(CommandError, match="no user"):
        call_command("forget_sign_on", "nobody")
    call_command("forget_sign_on", "ada", stdout=StringIO())
    with pytest.raises(CommandError, match="bound to no"):
        call_command("forget_sign_on", "ada")


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"is_active": False}, "switched_off"),
        ({"is_staff": False}, "switched_off"),
        ({"is_superuser": True}, "superuser"),
    ],
)
def test_who_may_not_come_this_way_is_refused(
    provider: FakeProvider, ada: User, changes: dict[str, bool], reason: str
) -> None:
    bound = reason == "superuser"
    if bound:
        sign_on(provider)
    User.objects.filter(pk=ada.pk).update(**changes)

    refusal(provider)

    assert outcome() == f"refused: {reason}"
    assert SignOn.objects.exists() is bound


def test_an_invitation_ends_and_a_revoked_one_lets_nobody_in(
    provider: FakeProvider, ada: User
) -> None:
    invitations.invite(ada, by=None, url="https://desk.example")
    Agent.objects.update(available=False)
    invitations.revoke(ada.pk)
    refusal(provider)

    invitations.invite(ada, by=None, url="https://desk.example")
    sign_on(provider)

    assert Invitation.objects.get().accepted_at
    assert Agent.objects.get().available


def test_groups_of_the_provider_give_and_take_roles(
    provider: FakeProvider, settings: Settings, ada: User
) -> None:
    settings.OIDC_GROUPS_CLAIM = "groups"
    settings.OIDC_ROLES = [("cn=leads", "lead"), ("Ops", "operator")]
    ada.groups.create(name="our own")

    sign_on(provider, groups=["Ops", "cn=leads", "else"])
    assert set(ada.groups.values_list("name", flat=True)) == {"lead", "operator", "our own"}

    sign_on(provider, groups="Ops")
    assert set(ada.groups.values_list("name", flat=True)) == {"operator", "our own"}
    assert AuditEntry.objects.order_by("-pk")[0].details["groups"] == ["-lead"]

    assert "None of your groups" in refusal(provider, groups=["ops"])
    assert "None of your groups" in refusal(provider)


@pytest.mark.parametrize("groups", [5, True, 1.5, {"Ops": True}, [5], [{"name": "Ops"}], [["Ops"]]])
def test_claims_of_a_wrong_type_are_refused_in_words(
    provider: FakeProvider, settings: Settings, ada: User, groups: object
) -> None:
    settings.OIDC_GROUPS_CLAIM, settings.OIDC_ROLES = "groups", [("Ops", "operator")]

    assert "cannot read" in refusal(provider, groups=groups)

    assert AuditEntry.objects.order_by("-pk")[0].outcome == "refused: bad_claims (groups)"


@pytest.mark.parametrize(
    ("claim", "value"),
    [("sub", "a\0b"), ("email", "a\0@desk.example"), ("email", "x" * 300)],
)
def test_claims_that_cannot_be_stored_are_refused_in_words(
    provider: FakeProvider, ada: User, claim: str, value: str
) -> None:
    assert "cannot read" in refusal(provider, **{claim: value})

    assert AuditEntry.objects.order_by("-pk")[0].outcome == f"refused: bad_claims ({claim})"


def test_a_name_of_any_length_and_signs_is_stored_as_far_as_it_goes(
    provider: FakeProvider, settings: Settings
) -> None:
    settings.OIDC_CREATE_USERS = True
    settings.OIDC_GROUPS_CLAIM, settings.OIDC_ROLES = "groups", [("desk", "agent")]
    eve = {"sub": "eve", "email": "eve@desk.example", "given_name": "E\0ve", "family_name": 5}

    sign_on(provider, **eve, groups=["desk"])

    user = User.objects.get(username="eve@desk.example")
    assert (user.first_name, user.last_name) == ("Eve", "")


def test_groups_that_are_too_many_to_be_sent_are_told_apart_from_none(
    provider: FakeProvider, settings: Settings, ada: User
) -> None:
    settings.OIDC_GROUPS_CLAIM, settings.OIDC_ROLES = "groups", [("Ops", "operator")]

    message = refusal(provider, _claim_names={"groups": "src1"}, _claim_sources={"src1": {}})

    assert "more groups" in message
    assert "None of your groups" in refusal(provider, _claim_names={"address": "src1"})


@pytest.mark.parametrize("role", roles.GROUPS)
def test_new_users_are_made_where_that_is_on(
    provider: FakeProvider, client: Client, settings: Settings, role: str
) -> None:
    settings.OIDC_CREATE_USERS = True
    settings.OIDC_GROUPS_CLAIM, settings.OIDC_ROLES = "groups", [("desk", role)]
    eve = {"sub": "eve", "email": "Eve@desk.example", "given_name": "Eve"}
    refusal(provider, **eve, groups=["other"])
    refusal(provider, **eve, groups=["desk"], email_verified=False)

    sign_on(provider, client, **eve, groups=["desk"])

    user = User.objects.get(username="eve@desk.example")
    assert (user.first_name, user.has_usable_password(), user.is_superuser) == ("Eve", False, False)
    assert [group.name for group in user.groups.all()] == [role]
    assert Agent.objects.filter(user=user, available=True).exists() is (role in ("agent", "lead"))
    assert inside(client)


@pytest.mark.parametrize(
    "page", ["https://evil.example/", "//evil.example", "/\\evil.example", "/docs"]
)
def test_leads_to_pages_of_the_desk_alone(provider: FakeProvider, page: str) -> None:
    assert sign_on(provider, page=page).headers["Location"] == "/admin/"


def test_leads_to_the_page_that_was_asked_for(provider: FakeProvider) -> None:
    assert sign_on(provider, page="/admin/sessions/").headers["Location"] == "/admin/sessions/"
    login = Client().get(LOGIN, {"next": "/admin/sessions/"}).content.decode()
    assert f'href="{BEGIN}?next=%2Fadmin%2Fsessions%2F"' in login


@pytest.mark.parametrize(
    ("asker", "amr", "asks"),
    [
        ("desk", ["mfa"], True),
        ("amr", ["pwd", "otp"], False),
        ("amr", ["pwd"], True),
        ("amr", "mfa-or-not", True),
        ("provider", None, False),
    ],
)
def test_the_second_factor_is_asked_by_whom_it_is_set(
    provider: FakeProvider, settings: Settings, asker: str, amr: object, asks: bool
) -> None:
    settings.REQUIRE_TOTP, settings.OIDC_SECOND_FACTOR = True, asker
    client = Client()

    answer = sign_on(provider, client, amr=amr)

    # A token whose methods are no list is invalid.
    assert answer.status_code == (403 if isinstance(amr, str) else 302)
    assert inside(client) is not asks


def test_a_second_factor_of_ones_own_is_asked_too(
    provider: FakeProvider, client: Client, ada: User
) -> None:
    phone = Client()
    phone.force_login(ada)
    switch_on(phone)

    sign_on(provider, client)

    assert not inside(client)


def test_guesses_at_the_password_do_not_lock_the_provider_out(
    provider: FakeProvider, client: Client
) -> None:
    for _ in range(6):
        client.post(LOGIN, {"username": "ada", "password": "guess"})

    sign_on(provider, client)

    assert inside(client)


def test_passwords_open_nothing_but_to_superusers_where_it_is_so(
    provider: FakeProvider, settings: Settings, ada: User
) -> None:
    settings.OIDC_ONLY = True
    User.objects.create_superuser("root", password="secret")
    assert 'name="password"' not in Client().get(LOGIN).content.decode()
    assert 'name="password"' in Client().get(f"{LOGIN}?password").content.decode()

    html = Client().post(LOGIN, {"username": "ada", "password": "secret"}).content.decode()
    root = Client()
    root.post(LOGIN, {"username": "root", "password": "secret"})

    assert "Only superusers sign in with a password" in html
    assert inside(root)
    assert SignOn.objects.count() == 0
    for _ in range(4):
        locked = Client().post(LOGIN, {"username": "ada", "password": "secret"})
    assert locked.status_code == 429


@pytest.mark.parametrize(
    "broken",
    [(500, b""), (302, b""), (200, b"not JSON"), (200, b"[]"), (200, b'{"issuer": "another"}')],
    ids=str,
)
def test_unreachable_provider_is_reported_and_not_retried_at_once(
    provider: FakeProvider, client: Client, broken: tuple[int, bytes]
) -> None:
    provider.broken["/.well-known/openid-configuration"] = broken

    for _ in range(3):
        answer = client.get(BEGIN)
        assert answer.status_code == 503
        assert "does not answer" in answer.content.decode()
        assert answer.headers["Retry-After"] == "10"

    assert len(provider.requested_paths) == 1
    client.post(LOGIN, {"username": "ada", "password": "secret"})
    assert inside(client)


@pytest.mark.parametrize("path", ["/token", "/keys"])
def test_provider_may_fail_during_sign_on(
    provider: FakeProvider, client: Client, path: str
) -> None:
    provider.broken[path] = (500, b"")

    assert sign_on(provider, client).status_code == 503
    assert not inside(client)


@pytest.mark.parametrize("name", ["token_endpoint", "jwks_uri", "authorization_endpoint"])
def test_secrets_go_nowhere_without_tls(provider: FakeProvider, client: Client, name: str) -> None:
    provider.discovery[name] = "http://192.0.2.7/somewhere"

    assert client.get(BEGIN).status_code == 503


def test_secrets_do_not_follow_a_redirect(provider: FakeProvider, client: Client) -> None:
    provider.broken["/token"] = (307, b"")

    sign_on(provider, client)

    assert "/token" in provider.requested_paths
    assert "/elsewhere" not in provider.requested_paths
    assert not inside(client)


def test_few_threads_wait_for_the_provider(provider: FakeProvider, client: Client) -> None:
    with known_provider.PROVIDER.calling(), known_provider.PROVIDER.calling():
        assert client.get(BEGIN).status_code == 503

    assert client.get(BEGIN).status_code == 302


def test_what_goes_wrong_is_logged_without_secrets(
    provider: FakeProvider, client: Client, caplog: pytest.LogCaptureFixture
) -> None:
    answer = come_back(client, begin(client), "no-such-code")

    # Requests for the page's styles and scripts must not send its URL, which has the code.
    assert answer["Referrer-Policy"] == "no-referrer"
    assert "the provider answered 'invalid_grant'" in caplog.text
    assert CLIENT_SECRET not in caplog.text
    assert "no-such-code" not in caplog.text


def test_one_signs_out_at_the_provider_too(provider: FakeProvider, client: Client) -> None:
    sign_on(provider, client)
    page = client.post("/admin/logout/").content.decode()
    assert 'href="/admin/sign-on/sign-out/"' in page
    assert not inside(client)

    url = client.get("/admin/sign-on/sign-out/").headers["Location"]

    assert url.startswith(f"{provider.issuer}/logout?")
    assert query_of(url)["post_logout_redirect_uri"] == "http://testserver/admin/login/"


def test_an_invitation_leads_to_the_provider_where_passwords_open_nothing(
    provider: FakeProvider, settings: Settings, ada: User
) -> None:
    settings.OIDC_ONLY = True

    invitations.invite(ada, by=None, url="https://desk.example")

    text = str(Mail.objects.get().secret_text)
    assert "https://desk.example/admin/\n" in text
    assert "password here" not in text
    assert "/admin/invitation/" not in text


def test_doctor_asks_the_provider(provider: FakeProvider, settings: Settings) -> None:
    assert doctor_checks.provider_answers() == f"{provider.issuer} answers, with 2 keys"
    provider.broken["/keys"] = (200, b"{}")
    with pytest.raises(RuntimeError, match=f"{provider.issuer} shows no keys"):
        doctor_checks.provider_answers()
    provider.broken["/.well-known/openid-configuration"] = (500, b"")
    with pytest.raises(OSError, match="500"):
        doctor_checks.provider_answers()

    settings.OIDC_ISSUER = ""
    assert doctor_checks.provider_answers() == "off"
