"""Folders of the private servers, and the account they run as."""

import hashlib
import os
import pwd
import re
import stat
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TypedDict

from tools.dev.bootstrap import ROOT
from tools.dev.trouble import UsageError, say

# A Unix socket's address holds 107 bytes; this is the longest file name in the folder.
LONGEST_SOCKET_FOLDER = 107 - len("/.s.PGSQL.5432")
# Characters allowed in a database URL's host: django-environ does not decode percent signs there.
PLAIN = re.compile(r"[A-Za-z0-9/._-]+")


@dataclass(frozen=True)
class Account:
    """Account for the servers if the launcher is root: PostgreSQL refuses to run as root."""

    uid: int
    gid: int


class AsAccount(TypedDict, total=False):
    """Arguments of Popen that run a child as another account."""

    user: int
    group: int
    extra_groups: list[str | int]


def as_account(account: Account | None) -> AsAccount:
    """Return Popen's arguments for an account; None keeps our own."""
    if account is None:
        return {}
    return {"user": account.uid, "group": account.gid, "extra_groups": []}


@dataclass(frozen=True)
class Place:
    """Folders of a pair of servers: files, sockets and logs."""

    files: Path
    sockets: Path
    logs: Path
    account: Account | None

    def give(self, path: Path) -> Path:
        """Create a folder owned by the servers' account."""
        path.mkdir(mode=0o700, parents=True, exist_ok=True)
        if self.account:
            os.chown(path, self.account.uid, self.account.gid)
        return path


def server_account() -> Account | None:
    """Return the account `nobody` if we are root; None if we can run the servers ourselves."""
    if os.geteuid() != 0:
        return None
    nobody = pwd.getpwnam("nobody")
    return Account(nobody.pw_uid, nobody.pw_gid)


def may_enter(path: Path, account: Account | None) -> bool:
    """Return True if the account can enter a folder, or run a program, at this path."""
    if account is None:
        return os.access(path, os.X_OK)
    probe = subprocess.run(
        ["/bin/sh", "-c", 'test -x "$1"', "sh", path], check=False, **as_account(account)
    )
    return probe.returncode == 0


def data_folder(environment: dict[str, str]) -> Path:
    """Return DATA_DIR, created if missing. Raises UsageError if it cannot be used."""
    folder = Path(environment.get("DATA_DIR") or ROOT / ".dev").absolute()
    try:
        if not folder.exists():
            folder.mkdir(parents=True)
            # The servers run as `nobody`, who must be able to pass through; contents stay private.
            folder.chmod(0o711 if os.geteuid() == 0 else 0o700)
        with tempfile.TemporaryFile(dir=folder):
            return folder
    except OSError as error:
        reason = error.strerror or str(error)
        raise UsageError(f"DATA_DIR {folder} cannot be written to: {reason}") from error


def lasting_place(data: Path) -> Place:
    """Return the place of a data folder's servers, the same one every time."""
    account = server_account()
    files = data if may_enter(data, account) else outside(data, account)
    logs = data / "logs"
    logs.mkdir(mode=0o700, exist_ok=True)
    place = Place(files, socket_folder(files), logs, account)
    place.give(place.sockets)
    return place


def outside(data: Path, account: Account | None) -> Path:
    """Return a folder for servers whose account cannot enter the data folder.

    Opening up the parent folders would weaken the machine; instead the data folder stores the
    other folder's path.
    """
    note = data / "servers-are-in"
    if note.exists() and Path(folder := note.read_text().strip()).is_dir():
        return Path(folder)
    temporary = Path(tempfile.gettempdir())
    lasting = [Path("/var/lib"), Path("/var/tmp")]  # noqa: S108 - mkdtemp picks the name
    first = [temporary] if data.is_relative_to(temporary) else []
    folder_made = make_enterable([*first, *lasting], "parceldesk-", account)
    note.write_text(f"{folder_made}\n")
    say(f"{data} is closed to nobody, whom the servers run as; their files are in {folder_made}")
    return folder_made


def throwaway_place(prefix: str) -> Place:
    """Create a place in the temporary folder, for one run of the tests."""
    account = server_account()
    candidates = [Path(tempfile.gettempdir()), Path("/tmp")]  # noqa: S108 - mkdtemp picks the name
    files = make_enterable(candidates, prefix, account)
    place = Place(files, socket_folder(files), files, account)
    place.give(place.sockets)
    return place


def make_enterable(candidates: list[Path], prefix: str, account: Account | None) -> Path:
    """Create a folder in the first of the candidates that the account can enter."""
    for parent in candidates:
        if os.access(parent, os.W_OK) and may_enter(parent, account):
            folder = Path(tempfile.mkdtemp(prefix=prefix, dir=parent))
            if account:
                folder.chmod(0o711)
            return folder
    tried = ", ".join(map(str, candidates))
    raise UsageError(
        f"the servers' account can enter none of {tried}; set DATA_DIR to another folder"
    )


def socket_folder(files: Path) -> Path:
    """Return `sockets` in the files' folder, or a temporary folder if that path does not fit."""
    local = files / "sockets"
    if fits(local):
        return local
    name = f"parceldesk-{os.geteuid()}-{hashlib.sha256(bytes(files)).hexdigest()[:12]}"
    for parent in (Path(tempfile.gettempdir()), Path("/tmp")):  # noqa: S108 - owner is checked
        if fits(parent / name / "s"):
            return own(parent / name) / "s"
    raise UsageError(f"no folder with a path short enough for sockets; {files} is too long")


def fits(folder: Path) -> bool:
    return len(bytes(folder)) <= LONGEST_SOCKET_FOLDER and bool(PLAIN.fullmatch(str(folder)))


def own(folder: Path) -> Path:
    """Create a folder with a predictable name. Raises UsageError if another user owns it."""
    folder.mkdir(exist_ok=True)
    status = folder.lstat()
    if not stat.S_ISDIR(status.st_mode) or status.st_uid != os.geteuid():
        raise UsageError(f"{folder} belongs to someone else; remove it or set DATA_DIR")
    folder.chmod(0o711)
    return folder
