"""Incidents of a small service, too small to be noticed by numbers."""

from collections.abc import Iterator

from companies.services import create_company
from tools.faults.feeding import publish_numbered
from tools.faults.incidents.following import Page
from tools.faults.incidents.plays import (
    LONGEST_REST_SECONDS,
    MENDED_WITHIN_SECONDS,
    Scene,
    expect,
    well,
)
from tools.faults.ports import free_port
from tools.faults.receiver import Receiver
from tools.faults.scenarios import until
from webhooks import services

RECEIVERS = 10
REFUSED = 4


def outage_of_ten(scene: Scene, page: Page) -> Iterator[None]:
    """Make all ten receivers unreachable, which are all that there are."""
    company = create_company("Dogwood")
    port = free_port()
    for number in range(1, RECEIVERS + 1):
        services.register_webhook(company, type_id=3, url=f"http://127.0.2.{number}:{port}/dogwood")
    publish_numbered(company, range(4))
    yield
    page.manage("doctor", fails=True)
    output = page.manage("queue", "--by", "host")
    expect("127.0.2." in output, output)
    page.note("opened the firewall again")
    with Receiver(listen=("0.0.0.0", port)):  # noqa: S104 - all of loopback
        until(scene.all_arrived, LONGEST_REST_SECONDS)
        until(lambda: well(scene, "receivers"), MENDED_WITHIN_SECONDS)


def second_deployment(scene: Scene, page: Page) -> Iterator[None]:
    """Start a second host with a key of its own, which would give it other queues."""
    service = scene.rig.service
    key = service.environment["SECRET_KEY"]
    service.environment["SECRET_KEY"] = "".join(reversed(key))
    service.start("worker", "second-host")
    process = service.processes.pop("second-host")
    expect(process.wait(MENDED_WITHIN_SECONDS) == REFUSED, "it was started")
    log_text = (service.logs / "second-host.log").read_text()
    yield
    expect("is in use by another deployment" in log_text, log_text)
    stored = log_text.partition("Set DEPLOYMENT=")[2][:12]
    page.note(f"DEPLOYMENT={stored} and the key of the first host")
    service.environment |= {"SECRET_KEY": key, "DEPLOYMENT": stored}
    service.start("worker", "second-host")
    try:
        page.manage("doctor", "--only", "hosts")
        scene.tell(20)
        until(scene.all_arrived, MENDED_WITHIN_SECONDS)
        expect(service.processes["second-host"].poll() is None, "it has ended")
    finally:
        service.stop("second-host")
        del service.environment["DEPLOYMENT"]
