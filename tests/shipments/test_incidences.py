from collections.abc import Callable

from companies.models import Company
from shipments.models import Incidence
from tests.shipments.feeding import Fed, counts, incidence, shipment

Feed = Callable[..., Fed]


def take_reported(incidences: list[Incidence]) -> list[tuple[int, bool]]:
    reported = [(each.pk, each.open) for each in incidences]
    incidences.clear()
    return reported


def test_tells_of_a_new_incidence_and_of_one_opened_again(
    company: Company, feed: Feed, incidences_heard: list[Incidence]
) -> None:
    fed = feed(
        shipment(5, company.pk),
        incidence(9, 5),
        incidence(8, 5, incidence_kind="lost", description="Not seen since Monday"),
    )
    assert fed.counts == counts(read=3, changed=3)
    assert take_reported(incidences_heard) == [(8, True), (9, True)]

    feed(incidence(8, 5, description="Seen"))
    assert take_reported(incidences_heard) == []

    feed(incidence(8, 5, open=False))
    assert take_reported(incidences_heard) == []
    stored = Incidence.objects.get(pk=8)
    assert (stored.open, stored.kind, stored.description) == (False, "lost", "Seen")

    feed(incidence(8, 5, open=True))
    assert take_reported(incidences_heard) == [(8, True)]
    assert Incidence.objects.get(pk=8).open


def test_does_not_tell_of_one_that_is_closed_when_it_is_written(
    company: Company, feed: Feed, incidences_heard: list[Incidence]
) -> None:
    fed = feed(
        shipment(5, company.pk),
        incidence(8, 5, open=False),
        incidence(9, 5),
        incidence(9, 5, open=False),
    )

    assert fed.counts == counts(read=4, changed=4)
    assert take_reported(incidences_heard) == []
    assert set(Incidence.objects.values_list("pk", "open")) == {(8, False), (9, False)}


def test_an_older_file_fed_again_does_not_open_what_was_closed(
    company: Company, feed: Feed, incidences_heard: list[Incidence]
) -> None:
    feed(shipment(5, company.pk), incidence(8, 5))
    feed(incidence(8, 5, open=False))
    incidences_heard.clear()

    fed = feed(shipment(5, company.pk), incidence(8, 5))

    assert fed.counts == counts(read=2, changed=0, known=2)
    assert not Incidence.objects.get().open
    assert take_reported(incidences_heard) == []
