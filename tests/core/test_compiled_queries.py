import pytest
from django.db import connection
from django.db.models import QuerySet
from pytest_django import DjangoAssertNumQueries

from core.data.compiled_queries import CompiledQuery, Slot
from tests import builders as build
from tickets.models import Agent


def agents_named(name: Slot, others: Slot) -> QuerySet[Agent, tuple]:
    agents = Agent.objects.filter(user__username=name, capacity=50)
    return agents.exclude(pk__in=others).values_list("pk", "user__username")


def test_gives_each_time_the_answer_to_what_is_asked_now(
    db: None, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    ada, ben = build.agent("ada"), build.agent("ben")
    question = CompiledQuery(agents_named, name="{}::text", others="SELECT unnest({}::bigint[])")

    with django_assert_num_queries(4):
        assert question.fetch(name="ada", others=[]) == [(ada.pk, "ada")]
        assert question.fetch(name="ben", others=[ada.pk]) == [(ben.pk, "ben")]
        assert question.fetch(name="ada", others=[ada.pk]) == []
        assert question.fetch(name="'; DROP TABLE tickets_agent; --", others=[]) == []


def test_wants_a_value_for_every_slot(db: None) -> None:
    question = CompiledQuery(agents_named, name="{}::text", others="SELECT unnest({}::bigint[])")

    with pytest.raises(KeyError, match="others"):
        question.fetch(name="ada")
    assert not connection.needs_rollback
