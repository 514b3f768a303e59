"""A test delivery uses the company's own webhook, whoever else has one with the same URL."""

from deliveries.on_demand import sample_delivery
from tests.deliveries.worlds import World
from webhooks.models import Webhook


def test_takes_the_companys_own_webhook(world: World) -> None:
    Webhook.objects.update(url="https://shared.example.com/in")
    for company in (world.acme, world.birch):
        webhook = sample_delivery.registered(company, "https://shared.example.com/in")
        assert webhook is not None
        assert webhook.company == company
