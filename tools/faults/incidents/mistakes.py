"""Incidents by operators' mistakes: a wrong schema, bundle or clock, a wrong company erased."""

import subprocess
from collections.abc import Iterator
from pathlib import Path

import requests
import trustme
from django.db import connection

from companies.models import Company
from companies.services import create_company, issue_token
from tools.dev.postgres import DATABASE, SUPERUSER
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
from tools.faults.probing import address
from tools.faults.scenarios import until
from webhooks import services

HOUR = 3600.0
# Figures of /metrics need tables of later migrations.
SCHEMA_BEFORE = ("companies", "0011")
WEBHOOKS = 10


def schema_behind(scene: Scene, page: Page) -> Iterator[None]:
    """Run the new version without its migrations."""
    scene.rig.service.manage("migrate", *SCHEMA_BEFORE)
    expect(not scene.is_ready())
    scene.tell(20)
    until(scene.all_arrived, MENDED_WITHIN_SECONDS)
    yield
    output = page.manage("doctor", "--only", "migrations", fails=True)
    expect("migrations are not applied" in output, output)
    page.manage("migrate")
    page.manage("doctor", "--only", "migrations")
    until(scene.is_ready, MENDED_WITHIN_SECONDS)


def bundle_gone(scene: Scene, page: Page) -> Iterator[None]:
    """Remove the file of DELIVERY_CA_BUNDLE; running processes have read it already."""
    bundle = Path(scene.rig.service.environment["DELIVERY_CA_BUNDLE"])
    away = bundle.rename(bundle.with_suffix(".away"))
    scene.tell(20)
    until(scene.all_arrived, MENDED_WITHIN_SECONDS)
    yield
    output = page.manage("doctor", fails=True)
    expect("fail  outgoing_tls" in output, output)
    # Emergency commands must work meanwhile.
    for name, *arguments in (("queue",), ("list_tokens",), ("hold_host", "--list")):
        scene.rig.service.manage(name, *arguments)
    page.note("put the file back")
    away.rename(bundle)
    until(lambda: well(scene, "outgoing_tls"), MENDED_WITHIN_SECONDS)


def wrong_bundle(scene: Scene, page: Page) -> Iterator[None]:
    """Set DELIVERY_CA_BUNDLE to authorities that have issued no receiver's certificate."""
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
    output = requests.get(address(service, "/metrics"), timeout=30).text
    expect('error="tls"' in output, output)
    page.manage("doctor", "--only", "outgoing_tls")
    page.note("named the right bundle and restarted the worker")
    service.environment["DELIVERY_CA_BUNDLE"] = right
    scene.restart("worker")
    until(scene.all_arrived, LONGEST_REST_SECONDS)
    until(lambda: well(scene, "receivers"), MENDED_WITHIN_SECONDS)


def clock_wrong(scene: Scene, page: Page) -> Iterator[None]:
    """Set the clock of a worker's host an hour ahead."""
    service = scene.rig.service
    clock = Clock(scene.rig.place.files, "host", HOUR)
    # Commands run on that host have its clock as well.
    service.environment |= {"PYTHONPATH": str(clock.code), "CLOCK_FILE": str(clock.file)}
    try:
        scene.restart("worker")
        scene.tell(20)
        until(scene.all_arrived, MENDED_WITHIN_SECONDS)
        yield
        output = page.manage("doctor", "--only", "clock", fails=True)
        expect("3600" in output, output)
        page.note("started chronyd")
        clock.set(0.0)
        page.manage("doctor", "--only", "clock")
    finally:
        clock.set(0.0)
        del service.environment["PYTHONPATH"], service.environment["CLOCK_FILE"]
    scene.restart("worker")


def wrong_company_erased(scene: Scene, page: Page) -> Iterator[None]:
    """Erase the wrong company, and restore an earlier backup."""
    service, postgres, place = scene.rig.service, scene.rig.postgres, scene.rig.place
    company = create_company("Fir", contact_email="somebody@fir.example")
    token = issue_token(company.pk)
    expect(scene.open_ticket(token).ok and scene.token)
    where = ["-h", str(place.sockets), "-U", SUPERUSER]
    dump = place.give(place.files / "backups") / "parceldesk.dump"
    postgres.run("pg_dump", *where, "--format=custom", f"--file={dump}", DATABASE)
    # A ticket opened after the backup is lost, and its number must not be used again.
    lost_id = scene.open_ticket().json()["id"]
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
    options = [part for name, path in lists.items() for part in (f"--{name}", str(path))]
    page.manage("after_restore", "--dry-run", *options)
    page.manage("after_restore", *options, "--confirm", DATABASE)
    page.manage("doctor", "--only", "restored", "secrets", "migrations")
    for kind in ("web", "worker"):
        service.start(kind)
    until(scene.web_answers, MENDED_WITHIN_SECONDS)
    expect(Company.objects.get(pk=company.pk).name == "Fir")
    expect(scene.ask("/company/tickets", token) == 200, "its token does not open")
    expect(scene.open_ticket(token).json()["id"] > lost_id, f"ticket {lost_id} was given twice")
    scene.tell(20)
    until(scene.all_arrived, MENDED_WITHIN_SECONDS)
