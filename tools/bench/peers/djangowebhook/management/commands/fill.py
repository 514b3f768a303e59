from argparse import ArgumentParser

from django.core.management import call_command
from django.core.management.base import BaseCommand
from django_webhook.models import Webhook, WebhookTopic, populate_topics_from_settings

from tools.bench.peers.djangowebhook.models import Parcel

# With the keys around it the body has 400 bytes, like that of all senders here.
DESCRIPTION = "x" * 190


class Command(BaseCommand):
    help = (
        "Make a backlog: parcels in the database, and by django-webhook's signal a task for each."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("size", type=int)
        parser.add_argument("url")

    def handle(self, *, size: int, url: str, **_: object) -> None:
        call_command("migrate", run_syncdb=True, verbosity=0)
        populate_topics_from_settings()
        webhook = Webhook.objects.create(url=url)
        webhook.secrets.create(token="5e" * 32)
        webhook.topics.add(WebhookTopic.objects.get(name="djangowebhook.Parcel/create"))
        for number in range(size):
            Parcel.objects.create(number=number, status="SHIPPED", description=DESCRIPTION)
