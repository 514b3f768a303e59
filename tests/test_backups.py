"""Play the page of backups, block by block, on a PostgreSQL as Debian installs it."""

import os
import pwd
import re
import shutil
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.config.test_settings import ROOT, variables
from tests.programs import program

PAGE = (ROOT / "docs" / "operations" / "backups.md").read_text()
SYSTEMCTL = """#!/bin/sh
[ "$2" = postgresql ] || exit 0
exec runuser -u postgres -- {bin}/pg_ctl -D {data} -l {folder}/log -w -s \
    -o "-k {folder} -p {port} -c listen_addresses=''" "$1"
"""
PARCELDESK = """#!/bin/sh
cd {root}
DATABASE_URL='{url}' exec {python} manage.py "$@"
"""


def blocks(heading: str) -> list[str]:
    section = PAGE.partition(f"\n## {heading}\n")[2].partition("\n## ")[0]
    return re.findall(r"^```sh\n(.*?)^```", section, re.MULTILINE | re.DOTALL)


class Host:
    """A host with a cluster of Debian's programs, in a folder of its own."""

    def __init__(self, folder: Path, programs: Path) -> None:
        self.folder, self.programs = folder, programs
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self.url = f"postgres://parceldesk@//{str(folder)[1:]}/parceldesk?port={self.port}"
        self.shell = "set -eo pipefail\n"
        self.install("systemctl", SYSTEMCTL)
        self.install("parceldesk", PARCELDESK)

    def install(self, name: str, text: str) -> None:
        path = self.folder / "programs" / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(
            text.format(
                bin=self.programs,
                data=self.folder / "main",
                folder=self.folder,
                port=self.port,
                root=ROOT,
                python=sys.executable,
                url=self.url,
            )
        )
        path.chmod(0o755)

    def run(self, text: str) -> str:
        """Run commands in the shell of the page: exports of earlier blocks persist."""
        for theirs, ours in [
            ("/usr/lib/postgresql/15/bin", str(self.programs)),
            ("/var/lib/postgresql/15/main", str(self.folder / "main")),
            ("/var/backups/postgresql", str(self.folder / "backups")),
            ("/root/", f"{self.folder}/"),
        ]:
            text = text.replace(theirs, ours)
        exports = "".join(f"{line}\n" for line in text.splitlines() if line.startswith("export "))
        result = subprocess.run(
            ["bash", "-c", self.shell + text],
            cwd=self.folder,
            env={
                **variables(ENVIRONMENT="test", BROKER_URL=os.environ["BROKER_URL"]),
                "PATH": f"{self.folder}/programs:{self.programs}:{os.environ['PATH']}",
                "PGHOST": str(self.folder),
                "PGPORT": str(self.port),
            },
            capture_output=True,
            text=True,
        )
        assert result.returncode == 0, f"{text}\n{result.stdout}\n{result.stderr}"
        self.shell += exports
        return result.stdout

    def ask(self, statement: str) -> str:
        return self.run(f'runuser -u postgres -- psql -d parceldesk -Atc "{statement}"').strip()


@pytest.fixture
def host() -> Iterator[Host]:
    if os.geteuid():
        pytest.skip("only root becomes another user")
    installations = sorted(Path("/usr/lib/postgresql").glob("*/bin"))
    if not installations or "postgres" not in {each.pw_name for each in pwd.getpwall()}:
        pytest.skip("no PostgreSQL of Debian's: apt-get install postgresql")
    folder = Path(tempfile.mkdtemp(prefix="pd-"))
    folder.chmod(0o755)
    shutil.chown(folder, "postgres")
    host = Host(folder, installations[-1])
    try:
        host.run(f"runuser -u postgres -- initdb -U postgres --auth=trust -E UTF8 -D {folder}/main")
        host.run("systemctl start postgresql; runuser -u postgres -- createuser parceldesk")
        host.run(
            "runuser -u postgres -- createdb --owner parceldesk -E UTF8 -T template0 parceldesk"
        )
        host.run("parceldesk migrate --noinput")
        yield host
    finally:
        subprocess.run([folder / "programs" / "systemctl", "stop", "postgresql"], check=False)
        shutil.rmtree(folder)


@pytest.mark.slow
def test_the_page_goes_back_to_the_second_before_a_mistake(host: Host) -> None:
    once, weekly, cleaning = blocks("Archiving WAL")
    lists, without, back, promote = blocks("To a point in time")
    after, anew = blocks("After a restore")
    host.run('parceldesk create_company "Acme"; parceldesk create_company "Birch"')
    archived = host.run(once)
    assert re.search(r"^ +[1-9]\d* \| +0 \|", archived, re.MULTILINE), archived
    assert "successfully verified" in host.run(weekly)
    host.run(cleaning)
    host.run('parceldesk create_company "Kept"; parceldesk issue_token 3')
    erased = host.ask("SELECT max(id) FROM companies_company")
    (until,) = host.ask("SELECT clock_timestamp() + interval '1 second'").splitlines()
    host.run("sleep 2")
    # The mistake, and rows that the live service creates until it is noticed.
    host.run(f"parceldesk erase_company {erased} --confirm Kept")
    for number in range(3):
        host.run(f'parceldesk create_company "Lost {number}"')
    lost = int(host.ask("SELECT max(id) FROM companies_company"))

    host.run(lists)
    host.run(without.replace(": 17,", f": {erased},"))
    assert not (host.folder / "erased.jsonl").read_text()
    waiting = host.run(re.sub(r'UNTIL="[^"]*"', f'UNTIL="{until}"', back))
    assert re.search(r"^ t +\| paused", waiting, re.MULTILINE), waiting
    assert re.search(r"^ f$", host.run(promote), re.MULTILINE)
    names = host.ask("SELECT name FROM companies_company ORDER BY id").splitlines()
    assert names == ["Acme", "Birch", "Kept"]

    warned = host.run("parceldesk doctor --only restored || true")
    assert "warn" in warned
    host.run(after)
    assert "live" in host.run(f"parceldesk list_tokens --company {erased}")
    host.run('parceldesk create_company "Next"')
    assert int(host.ask("SELECT max(id) FROM companies_company")) > lost + 1_000
    assert "successfully verified" in host.run(anew)
    assert host.ask("SHOW archive_mode") == "on"


def test_the_timer_and_its_unit_are_systemd_s(tmp_path: Path) -> None:
    systemd_analyze = program("systemd-analyze")
    for path in (ROOT / "deploy" / "systemd").iterdir():
        text = re.sub(r"^ExecStart=\S+", "ExecStart=/bin/true", path.read_text(), flags=re.M)
        (tmp_path / path.name).write_text(text)
    timer = tmp_path / "parceldesk-backup.timer"
    (calendar,) = re.findall(r"^OnCalendar=(.+)$", timer.read_text(), re.MULTILINE)

    verified = subprocess.run([systemd_analyze, "verify", timer], capture_output=True, text=True)
    read = subprocess.run([systemd_analyze, "calendar", calendar], capture_output=True, text=True)

    assert (verified.returncode, verified.stderr) == (0, "")
    assert read.returncode == 0, read.stderr


@pytest.mark.slow
def test_the_nightly_backup_is_whole_and_old_ones_go(host: Host) -> None:
    host.run('parceldesk create_company "Acme"; parceldesk issue_token 1')
    place, files = host.folder / "nightly", host.folder / "files"
    for folder in (place, files, place / "2020-01-02T023000"):
        folder.mkdir()
    os.utime(place / "2020-01-02T023000", (0, 0))
    (files / "7").write_text("a photo")

    host.run(
        f"DATABASE_URL='{host.url}' BACKUP_FILES={files} BACKUP_DATABASE=\"user=parceldesk"
        f' dbname=parceldesk" {ROOT}/deploy/backup {place}'
    )

    (backup,) = place.iterdir()
    assert {each.name for each in backup.iterdir()} == {
        "parceldesk.dump",
        "files.tar.gz",
        "erased.jsonl",
        "tokens.jsonl",
    }
    assert '"state": "live"' in (backup / "tokens.jsonl").read_text()
    assert "files/7" in host.run(f"tar -tzf {backup}/files.tar.gz")
    assert "companies_company" in host.run(f"pg_restore --list {backup}/parceldesk.dump")
