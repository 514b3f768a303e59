"""The second factor: optional per user, then required at every login."""

import re
import time
from base64 import b32decode
from datetime import timedelta

import pytest
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command
from django.http import HttpResponse
from django.test import Client
from django.utils import timezone
from django_otp.oath import totp
from django_otp.plugins.otp_static.models import StaticDevice, StaticToken
from pytest_django import Settings

from desk.people import second_factor
from tests import builders as build
from tests.keys import lose_keys
from tickets import roles
from tickets.models import Phone, PhoneKey

pytestmark = pytest.mark.django_db
ACCOUNT = "/admin/second-factor/"
STEP = "/admin/second-factor/code/"


@pytest.fixture(autouse=True)
def ada(db: None) -> User:
    return build.agent("ada").user


def sign_in(name: str = "ada") -> Client:
    client = Client()
    client.post("/admin/login/", {"username": name, "password": "secret"})
    return client


def code_of(device: Phone) -> str:
    """Return the phone's code; a code counts once, so later calls use later time steps."""
    return f"{totp(device.bin_key, drift=max(0, device.last_t - int(time.time()) // 30 + 1)):06}"


def begin(client: Client, password: str) -> HttpResponse:
    return client.post(ACCOUNT, {"begin": "1", "password": password})


def key_on_page(client: Client) -> bytes:
    """Read the key off the page as a phone does; return b"" if there is none."""
    match = re.search(r"<code>(\w+)</code>", client.get(ACCOUNT).content.decode())
    return b32decode(match[1]) if match else b""


def switch_on(client: Client) -> list[str]:
    """Begin, scan and confirm; return the recovery codes."""
    begin(client, "secret")
    key = key_on_page(client)
    html = client.post(ACCOUNT, {"code": f"{totp(key):06}"}).content.decode()
    return re.findall(r"<li>(\w{12})</li>", html)


@pytest.fixture
def codes() -> list[str]:
    return switch_on(sign_in())


def inside(client: Client) -> bool:
    return client.get("/admin/").status_code == 200


def test_is_switched_on_with_a_picture_a_code_and_ten_recovery_codes() -> None:
    client = sign_in()
    assert not Phone.objects.exists()
    assert "Set up" in client.get(ACCOUNT).content.decode()
    assert not Phone.objects.exists()

    codes = switch_on(client)

    assert len(set(codes)) == 10
    assert Phone.objects.get().confirmed
    assert inside(client)


def test_is_not_on_before_a_right_code(ada: User) -> None:
    client = sign_in()
    begin(client, "secret")

    html = client.post(ACCOUNT, {"code": "000000"}).content.decode()

    assert "incorrect" in html
    assert not second_factor.is_on(ada)
    assert inside(sign_in())


def test_its_secrets_are_not_shown_again_nor_kept_in_the_clear(codes: list[str]) -> None:
    device = Phone.objects.get()
    client = sign_in()
    client.post(STEP, {"code": code_of(device)})

    html = client.get(ACCOUNT).content.decode()

    assert inside(client)
    for secret in [device.key, device.config_url.partition("secret=")[2][:32], *codes]:
        assert secret not in html
    assert not set(codes) & set(StaticToken.objects.values_list("token", flat=True))


def test_a_phone_s_key_lies_encrypted(codes: list[str]) -> None:
    phone = Phone.objects.get()

    assert phone.key != phone.bin_key.hex()
    assert PhoneKey.objects.get().key == phone.bin_key.hex()


def test_a_phone_whose_key_is_lost_is_refused_and_a_recovery_code_opens(
    codes: list[str], settings: Settings
) -> None:
    lose_keys(settings)
    client = sign_in()

    html = client.post(STEP, {"code": "123456"}).content.decode()
    assert "can no longer be read" in html
    client.post(STEP, {"code": codes[0]})

    assert inside(client)


def test_one_that_was_begun_and_whose_key_is_lost_is_begun_anew(settings: Settings) -> None:
    client = sign_in()
    client.post(ACCOUNT, {"begin": "1"})
    lose_keys(settings)

    assert "Set up" in client.get(ACCOUNT).content.decode()
    assert len(switch_on(client)) == 10


def test_no_page_opens_between_the_password_and_the_code(codes: list[str]) -> None:
    client = sign_in()

    for path in ["/admin/", "/admin/tickets/ticket/", ACCOUNT, "/admin/password_change/"]:
        assert client.get(path).headers["Location"] == STEP
    assert client.post(ACCOUNT, {"password": "secret"}).headers["Location"] == STEP
    assert client.get(STEP).status_code == 200

    client.post(STEP, {"code": code_of(Phone.objects.get())})

    assert inside(client)


def test_a_code_opens_once(codes: list[str]) -> None:
    code = code_of(Phone.objects.get())
    first, second = sign_in(), sign_in()

    first.post(STEP, {"code": code})
    second.post(STEP, {"code": code})

    assert inside(first)
    assert not inside(second)


def test_a_recovery_code_opens_once(codes: list[str]) -> None:
    first, second = sign_in(), sign_in()

    first.post(STEP, {"code": f" {codes[0][:6].upper()}-{codes[0][6:]} "})
    second.post(STEP, {"code": codes[0]})

    assert inside(first)
    assert not inside(second)
    assert StaticToken.objects.count() == 9


def test_codes_are_not_guessed(codes: list[str]) -> None:
    client = sign_in()
    client.post(STEP, {"code": "000000"})
    assert Phone.objects.get().throttling_failure_count == 1
    # Each guess doubles the wait: after the first one it could be over on a busy machine.
    Phone.objects.update(throttling_failure_count=10)

    html = client.post(STEP, {"code": code_of(Phone.objects.get())}).content.decode()

    assert "was not checked" in html
    assert not inside(client)


def test_a_right_code_right_after_a_wrong_one_is_told_to_wait(codes: list[str]) -> None:
    client = sign_in()
    assert "is incorrect" in client.post(STEP, {"code": "a" * 12}).content.decode()
    StaticDevice.objects.update(throttling_failure_count=10)

    html = client.post(STEP, {"code": codes[0]}).content.decode()

    assert "was not checked" in html
    assert "is incorrect" not in html
    earlier = timezone.now() - timedelta(hours=1)
    StaticDevice.objects.update(throttling_failure_timestamp=earlier)
    client.post(STEP, {"code": codes[0]})
    assert inside(client)


@pytest.mark.parametrize(
    "typed",
    ["{0} {1} {2}", " {0}-{1}-{2}\n", "{0}\u2013{1}\u00a0{2}", "{0}\u2011{1}\u200b{2}."],
)
def test_blanks_and_dashes_of_a_recovery_code_do_no_harm(codes: list[str], typed: str) -> None:
    code = codes[0].upper()
    client = sign_in()

    client.post(STEP, {"code": typed.format(code[:4], code[4:8], code[8:])})

    assert inside(client)


@pytest.mark.parametrize("zero", [0xFF10, 0x0660, 0x0966])
def test_a_code_may_be_typed_in_digits_of_any_script(codes: list[str], zero: int) -> None:
    client = sign_in()
    code = code_of(Phone.objects.get())

    client.post(STEP, {"code": "".join(chr(int(one) + zero) for one in code)})

    assert inside(client)


def test_nobody_s_code_opens_another_s_door(codes: list[str]) -> None:
    build.agent("eve")
    eve = sign_in("eve")
    theirs = switch_on(eve)
    client = sign_in()

    client.post(STEP, {"code": theirs[0]})

    assert not inside(client)


def test_is_switched_off_with_the_password(codes: list[str], ada: User) -> None:
    client = sign_in()
    client.post(STEP, {"code": codes[0]})

    client.post(ACCOUNT, {"password": "wrong"})
    assert second_factor.is_on(ada)
    client.post(ACCOUNT, {"password": "secret"})

    assert not second_factor.is_on(ada)
    assert not StaticToken.objects.exists()
    assert inside(sign_in())


def test_an_operator_removes_a_lost_phone(codes: list[str], operator: Client, ada: User) -> None:
    waiting = sign_in()

    operator.post(
        "/admin/auth/user/", {"action": "remove_second_factor", "_selected_action": ada.pk}
    )

    assert waiting.get(STEP).status_code == 302
    assert inside(waiting)
    assert inside(sign_in())


def test_a_command_removes_it_too(codes: list[str], ada: User) -> None:
    call_command("remove_second_factor", "ada")

    assert not second_factor.is_on(ada)
    with pytest.raises(CommandError, match="has no second factor"):
        call_command("remove_second_factor", "ada")
    with pytest.raises(CommandError, match="no user"):
        call_command("remove_second_factor", "nobody")


def test_may_be_asked_of_everybody(settings: Settings) -> None:
    settings.REQUIRE_TOTP = True
    client = sign_in()
    assert client.get("/admin/tickets/ticket/").headers["Location"] == ACCOUNT
    assert "Everyone who uses this desk" in client.get(ACCOUNT).content.decode()

    switch_on(client)

    assert inside(client)


def test_devices_have_no_pages_of_their_own(operator: Client) -> None:
    for model in ["otp_totp/totpdevice", "otp_static/staticdevice"]:
        assert operator.get(f"/admin/{model}/").status_code == 404


@pytest.fixture
def olga() -> Client:
    """Create an operator who is no superuser."""
    user = User.objects.create_user("olga", password="secret", is_staff=True)
    user.groups.add(roles.group("operator"))
    client = Client()
    client.force_login(user)
    return client


def user_page(user: User) -> str:
    return f"/admin/auth/user/{user.pk}/change/"


def test_an_operator_gives_nobody_more_than_they_have(olga: Client) -> None:
    lead, operators = roles.group("lead"), roles.group("operator")
    form = {"username": "nina", "password1": "horse-9-battery", "usable_password": "true"}
    olga.post("/admin/auth/user/add/", {**form, "password2": "horse-9-battery"})
    nina = User.objects.get(username="nina")
    own = User.objects.get(username="olga")

    for user in (nina, own):
        body = {"username": user.username, "is_active": "on", "is_staff": "on"}
        olga.post(user_page(user), {**body, "is_superuser": "on", "groups": [lead.pk]})
        body |= {"groups": [operators.pk]}
        olga.post(user_page(user), {**body, "is_superuser": "on", "user_permissions": [1, 2, 3]})
        user.refresh_from_db()
        assert not user.is_superuser
        assert not user.user_permissions.exists()
        assert lead not in user.groups.all()
    assert list(nina.groups.all()) == [operators]


def test_an_operator_takes_over_nobody_who_may_more(olga: Client, ada: User) -> None:
    root = User.objects.create_superuser("root", password="secret")

    for user in (ada, root):
        Phone.objects.create(user=user, name="phone", confirmed=True)
        password = f"/admin/auth/user/{user.pk}/password/"
        new = {"password1": "horse-9-battery", "password2": "horse-9-battery"}
        assert olga.get(password).status_code == 403
        assert olga.post(password, new).status_code == 403
        olga.post(user_page(user), {"username": "mine", "email": "me@example.com"})
        olga.post(
            "/admin/auth/user/", {"action": "remove_second_factor", "_selected_action": user.pk}
        )
        user_now = User.objects.get(pk=user.pk)
        assert user_now.username == user.username
        assert user_now.check_password("secret")
        assert Phone.objects.filter(user=user).exists()
    assert User.objects.get(pk=root.pk).is_active
    assert not User.objects.get(pk=ada.pk).is_active


def test_an_operator_changes_no_group(olga: Client) -> None:
    group = roles.group("operator")
    permission_count = group.permissions.count()
    group.permissions.add(*roles.permissions(["auth.change_group", "auth.add_group"]))

    page = f"/admin/auth/group/{group.pk}/change/"
    assert olga.get(page).status_code == 200
    assert olga.post(page, {"name": "operator", "permissions": [1]}).status_code == 403
    assert olga.get("/admin/auth/group/add/").status_code == 403
    assert group.permissions.count() == permission_count + 2


def test_nobody_is_deleted(operator: Client, ada: User) -> None:
    assert operator.post(f"/admin/auth/user/{ada.pk}/delete/", {"post": "yes"}).status_code == 403
    assert User.objects.filter(pk=ada.pk).exists()
