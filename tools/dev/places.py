"""Where the private servers keep their files, and as whom they run."""

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

# A Unix socket's address holds 107 bytes, and the longest name put into the folder is this one.
LONGEST_SOCKET_FOLDER = 107 - len("/.s.PGSQL.5432")
# What a database URL carries as it stands: django-environ decodes no percent signs in a host.
PLAIN = re.compile(r"[A-Za-z0-9/._-]+")


@dataclass(frozen=True)
class Account:
    """Who the servers run as when the launcher is root: PostgreSQL refuses to be root."""

    uid: int
    gid: int


class AsAccount(TypedDict, total=False):
    """The arguments of Popen that make a child another account."""

    user: int
    group: int
    extra_groups: list[str | int]


def as_account(account: Account | None) -> AsAccount:
    """None leaves the child ours."""
    if account is None:
        return {}
    return {"user": account.uid, "group": account.gid, "extra_groups": []}


@dataclass(frozen=True)
class Place:
    """One pair of servers: their files, their sockets, and what they write to their logs."""

    files: Path
    sockets: Path
    logs: Path
    account: Account | None

    def give(self, path: Path) -> Path:
        """Make a folder that is the servers' own."""
        path.mkdir(mode=0o700, parents=True, exist_ok=True)
        if self.account:
            os.chown(path, self.account.uid, self.account.gid)
        return path


def server_account() -> Account | None:
    """nobody, who exists everywhere, when we are root; None when we may run them ourselves."""
    if os.geteuid() != 0:
        return None
    nobody = pwd.getpwnam("nobody")
    return Account(nobody.pw_uid, nobody.pw_gid)


def may_enter(path: Path, account: Account | None) -> bool:
    """Whether the account reaches what lies in a folder, or can run a program, at this path."""
    if account is None:
        return os.access(path, os.X_OK)
    asked = subprocess.run(
        ["/bin/sh", "-c", 'test -x "$1"', "sh", path], check=False, **as_account(account)
    )
    return asked.returncode == 0


def data_folder(environment: dict[str, str]) -> Path:
    """DATA_DIR, made when it is not there; raises Trouble when it cannot be used."""
    folder = Path(environment.get("DATA_DIR") or ROOT / ".dev").absolute()
    try:
        if not folder.exists():
            folder.mkdir(parents=True)
            # Root lets nobody pass through, whom the servers run as; what is in it stays private.
            folder.chmod(0o711 if os.geteuid() == 0 else 0o700)
        with tempfile.TemporaryFile(dir=folder):
            return folder
    except OSError as error:
        reason = error.strerror or str(error)
        raise UsageError(f"DATA_DIR {folder} cannot be written to: {reason}") from error


def lasting_place(data: Path) -> Place:
    """The place of the servers that belong to a data folder, the same one every time."""
    account = server_account()
    files = data if may_enter(data, account) else outside(data, account)
    logs = data / "logs"
    logs.mkdir(mode=0o700, exist_ok=True)
    place = Place(files, socket_folder(files), logs, account)
    place.give(place.sockets)
    return place


def outside(data: Path, account: Account | None) -> Path:
    """A folder for the servers of a data folder that their account cannot enter.

    Opening up the folders above would weaken the machine; the data folder remembers the other
    place instead.
    """
    note = data / "servers-are-in"
    if note.exists() and Path(folder := note.read_text().strip()).is_dir():
        return Path(folder)
    temporary = Path(tempfile.gettempdir())
    lasting = [Path("/var/lib"), Path("/var/tmp")]  # noqa: S108 - mkdtemp picks the name
    first = [temporary] if data.is_relative_to(temporary) else []
    made = make_enterable([*first, *lasting], "parceldesk-", account)
    note.write_text(f"{made}\n")
    say(f"{data} is closed to nobody, whom the servers run as; their files are in {made}")
    return made


def throwaway_place(prefix: str) -> Place:
    """A place in the temporary folder, for one run of the tests."""
    account = server_account()
    candidates = [Path(tempfile.gettempdir()), Path("/tmp")]  # noqa: S108 - mkdtemp picks the name
    files = make_enterable(candidates, prefix, account)
    place = Place(files, socket_folder(files), files, account)
    place.give(place.sockets)
    return place


def make_enterable(candidates: list[Path], prefix: str, account: Account | None) -> Path:
    """A new folder in the first of the candidates the account can enter."""
    for parent in candidates:
        if os.access(parent, os.W_OK) and may_enter(parent, account):
            made = Path(tempfile.mkdtemp(prefix=prefix, dir=parent))
            if account:
                made.chmod(0o711)
            return made
    tried = ", ".join(map(str, candidates))
    raise UsageError(
        f"the servers' account can enter none of {tried}; set DATA_DIR to another folder"
    )


def socket_folder(files: Path) -> Path:
    """Beside the files, or in the temporary folder when that name is too long or too odd."""
    beside = files / "sockets"
    if fits(beside):
        return beside
    name = f"parceldesk-{os.geteuid()}-{hashlib.sha256(bytes(files)).hexdigest()[:12]}"
    for parent in (Path(tempfile.gettempdir()), Path("/tmp")):  # noqa: S108 - owner is checked
        if fits(parent / name / "s"):
            return own(parent / name) / "s"
    raise UsageError(f"no folder with a path short enough for sockets; {files} is too long")


def fits(folder: Path) -> bool:
    return len(bytes(folder)) <= LONGEST_SOCKET_FOLDER and bool(PLAIN.fullmatch(str(folder)))


def own(folder: Path) -> Path:
    """Make a folder under a name that others can guess; refuse one that is not ours."""
    folder.mkdir(exist_ok=True)
    found = folder.lstat()
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.geteuid():
        raise UsageError(f"{folder} belongs to someone else; remove it or set DATA_DIR")
    folder.chmod(0o711)
    return folder
