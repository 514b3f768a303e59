import pytest
from django.contrib.auth.models import AnonymousUser, User
from django.core.exceptions import PermissionDenied
from django.test import RequestFactory

from desk.common.requests import staff


def test_gives_the_user_of_a_request(rf: RequestFactory) -> None:
    request = rf.get("/admin/")
    request.user = User(username="ada")

    assert staff(request).get_username() == "ada"


def test_refuses_a_request_of_nobody(rf: RequestFactory) -> None:
    request = rf.get("/admin/")
    request.user = AnonymousUser()

    with pytest.raises(PermissionDenied):
        staff(request)
