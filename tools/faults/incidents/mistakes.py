"""Incidents of our own making: a wrong schema, bundle or clock, a company erased by mistake."""

import subprocess
from collections.abc import Iterator
from pathlib import Path

import requests
import trustme
from django.db import connection

from companies.models import Company
from companies.services import create_company, issue_token
from tools.dev.postgres import DATABASE, SUPERUSER
from tools.faults.asking import address
from tools.faults.clocks import Clock
from tools.faults.feeding import publish_numbered
from tools.faults.incidents.following import Page
from tools.faults.incidents.plays import (
    LONGEST_REST_SECONDS,
    MENDED_WITHIN_SECONDS,
    Scene,
    expect,
    well,
)
from tools.faults.scenarios import until
from webhooks import services

HOUR = 3600.0
# Without the tables of migrations behind this one, figures of /metrics are missing.
SCHEMA_BEFORE = ("companies", "0011")
WEBHOOKS = 10


def schema_behind(scene: Scene, page: Page) -> Iterator[None]:
    """The new version runs, and its migrations have not."""
    scene.rig.service.manage("migrate", *SCHEMA_BEFORE)
    expect(not scene.is_ready())
    scene.tell(20)
    until(scene.all_arrived, MENDED_WITHIN_SECONDS)
    yield
    shown = page.manage("doctor", "--only", "migrations", fails=True)
    expect("migrations are not applied" in shown, shown)
    page.manage("migrate")
    page.manage("doctor", "--only", "migrations")
    until(scene.is_ready, MENDED_WITHIN_SECONDS)


def bundle_gone(scene: Scene, page: Page) -> Iterator[None]:
    """The file of DELIVERY_CA_BUNDLE is gone; who runs goes on with what was read before."""
    bundle = Path(scene.rig.service.environment["DELIVERY_CA_BUNDLE"])
    away = bundle.rename(bundle.with_suffix(".away"))
    scene.tell(20)
    until(scene.all_arrived, MENDED_WITHIN_SECONDS)
    yield
    shown = page.manage("doctor", fails=True)
    expect("fail  outgoing_tls" in shown, shown)
    # An emergency may need these meanwhile.
    for name, *arguments in (("queue",), ("list_tokens",), ("hold_host", "--list")):
        scene.rig.service.manage(name, *arguments)
    page.note("put the file back")
    away.rename(bundle)
    until(lambda: well(scene, "outgoing_tls"), MENDED_WITHIN_SECONDS)


def wrong_bundle(scene: Scene, page: Page) -> Iterator[None]:
    """DELIVERY_CA_BUNDLE names authorities that no receiver's certificate is of."""
    service = scene.rig.service
    right = service.environment["DELIVERY_CA_BUNDLE"]
    wrong = scene.rig.place.files / "wrong.pem"
    trustme.CA().cert_pem.write_to_path(wrong)
    service.environment["DELIVERY_CA_BUNDLE"] = str(wrong)
    scene.restart("worker")
    company = create_company("Elm")
    for number in range(WEBHOOKS):
        url = f"{scene.rig.receiver.url}/elm/{number}"
        services.register_webhook(company, type_id=3, url=url)
    publish_numbered(company, range(4))
    yield
    page.manage("queue", "--by", "host")
    shown = requests.get(address(service, "/metrics"), timeout=30).text
    expect('error="tls"' in shown, shown)
    page.manage("doctor", "--only", "outgoing_tls")
    page.note("named the right bundle and restarted the worker")
    service.environment["DELIVERY_CA_BUNDLE"] = right
    scene.restart("worker")
    until(scene.all_arrived, LONGEST_REST_SECONDS)
    until(lambda: well(scene, "receivers"), MENDED_WITHIN_SECONDS)


def clock_wrong(scene: Scene, page: Page) -> Iterator[None]:
    """The clock of a worker's host is an hour ahead."""
    service = scene.rig.service
    clock = Clock(scene.rig.place.files, "host", HOUR)
    # Commands that somebody runs on that host have its clock as well.
    service.environment |= {"PYTHONPATH": str(clock.code), "CLOCK_FILE": str(clock.file)}
    try:
        scene.restart("worker")
        scene.tell(20)
        until(scene.all_arrived, MENDED_WITHIN_SECONDS)
        yield
        shown = page.manage("doctor", "--only", "clock", fails=True)
        expect("3600" in shown, shown)
        page.note("started chronyd")
        clock.set(0.0)
        page.manage("doctor", "--only", "clock")
    finally:
        clock.set(0.0)
        del service.environment["PYTHONPATH"], service.environment["CLOCK_FILE"]
    scene.restart("worker")


def wrong_company_erased(scene: Scene, page: Page) -> Iterator[None]:
    """The wrong company is erased, and the backup from before is put back."""
    service, postgres, place = scene.rig.service, scene.rig.postgres, scene.rig.place
    company = create_company("Fir", contact_email="somebody@fir.example")
    token = issue_token(company.pk)
    expect(scene.open_ticket(token).ok and scene.token)
    where = ["-h", str(place.sockets), "-U", SUPERUSER]
    dump = place.give(place.files / "backups") / "parceldesk.dump"
    postgres.run("pg_dump", *where, "--format=custom", f"--file={dump}", DATABASE)
    # A ticket opened behind the backup is lost with it, and nobody else may get its number.
    lost = scene.open_ticket().json()["id"]
    service.manage("erase_company", str(company.pk), "--confirm", "Fir")
    yield
    lists = {name: place.files / f"{name}.jsonl" for name in ("erased", "tokens")}
    lists["erased"].write_text(page.manage("erase_company", "--list", "--json"))
    lists["tokens"].write_text(page.manage("list_tokens", "--all", "--json"))
    without = next(line for line in page.commands if line.startswith("sed -i"))
    without = without.replace(": 17,", f": {company.pk},").replace("/root/", f"{place.files}/")
    subprocess.run(["bash", "-c", without], check=True)
    service.stop("worker", "web")
    connection.close()
    postgres.run("dropdb", *where, "--force", DATABASE)
    postgres.run("createdb", *where, "--template=template0", "--encoding=UTF8", DATABASE)
    postgres.run("pg_restore", *where, f"--dbname={DATABASE}", "--exit-on-error", str(dump))
    given = [part for name, path in lists.items() for part in (f"--{name}", str(path))]
    page.manage("after_restore", "--dry-run", *given)
    page.manage("after_restore", *given, "--confirm", DATABASE)
    page.manage("doctor", "--only", "restored", "secrets", "migrations")
    for kind in ("web", "worker"):
        service.start(kind)
    until(scene.web_answers, MENDED_WITHIN_SECONDS)
    expect(Company.objects.get(pk=company.pk).name == "Fir")
    expect(scene.ask("/company/tickets", token) == 200, "its token does not open")
    expect(scene.open_ticket(token).json()["id"] > lost, f"ticket {lost} was given twice")
    scene.tell(20)
    until(scene.all_arrived, MENDED_WITHIN_SECONDS)
