from argparse import ArgumentParser

from django.core.management import call_command
from django.core.management.base import BaseCommand

from tools.bench.bodies import body
from tools.bench.peers.plain.models import Delivery, Webhook
from tools.bench.peers.plain.tasks import deliver


class Command(BaseCommand):
    help = "Make the tables and a backlog: rows in the database, and a task for each in the broker."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("size", type=int)
        parser.add_argument("url")

    def handle(self, *, size: int, url: str, **_: object) -> None:
        call_command("migrate", run_syncdb=True, verbosity=0)
        webhook = Webhook.objects.create(url=url, secret="5e" * 32)
        for number in range(size):
            delivery = Delivery.objects.create(webhook=webhook, body=body(number).decode())
            deliver.delay(delivery.pk)
