"""The whole service as real processes, on the database and the broker of the test."""

import shutil
import ssl
from collections.abc import Iterator
from pathlib import Path

import pytest
import trustme
from django.conf import settings
from django.db import connection

from companies.models import Company
from tests import builders as build
from tools.dev.places import throwaway_place
from tools.dev.valkey import Valkey
from tools.faults.environment import environment
from tools.faults.ports import free_port
from tools.faults.receiver import Receiver
from tools.faults.service import Service

# A lease is six times this, and a test need not wait half a minute for a dead worker's rows. On a
# busy machine an attempt may take longer and be repeated: use it where repeats are expected.
SHORT_LEASE = {"DELIVERY_TIMEOUT_SECONDS": "2"}


def service_environment(tmp_path: Path) -> dict[str, str]:
    database = connection.settings_dict
    address = f"{database['USER']}@/{database['HOST']}/{database['NAME']}"
    return {
        **environment(
            database=f"postgres://{address}",
            broker=settings.CELERY_BROKER_URL,
            cache=settings.CACHE_URL,
            folder=tmp_path,
        ),
        "SECRET_KEY": settings.SECRET_KEY,
        "FIELD_KEYS": ",".join(settings.FIELD_KEYS),
        # On a busy machine an attempt may time out; the test need not wait five minutes for it.
        "DELIVERY_RETRY_SECONDS": ",".join(["1"] * 20),
        "WORKER_CONCURRENCY": "3",
        "PORT": str(free_port()),
    }


@pytest.fixture
def acme(rows_to_keep: None) -> Company:
    """Create Acme, in rows that other processes can see."""
    return build.company("Acme")


@pytest.fixture
def certificates() -> trustme.CA:
    return trustme.CA()


@pytest.fixture
def receiver(certificates: trustme.CA, loopback: object) -> Iterator[Receiver]:
    """Run a receiver with TLS, as receivers must have."""
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    certificates.issue_cert("127.0.0.1").configure_cert(context)
    with Receiver(tls=context) as receiver:
        yield receiver


@pytest.fixture
def service(acme: Company, certificates: trustme.CA, tmp_path: Path) -> Iterator[Service]:
    certificates.cert_pem.write_to_path(tmp_path / "ca.pem")
    with Service(service_environment(tmp_path), tmp_path) as service:
        yield service


@pytest.fixture
def broker() -> Iterator[Valkey]:
    """Run a broker of its own for a test that takes it away."""
    place = throwaway_place("parceldesk-fault-")
    valkey = Valkey(place)
    valkey.start_and_wait()
    yield valkey
    valkey.stop()
    for folder in (place.files, place.sockets):
        shutil.rmtree(folder, ignore_errors=True)
