import os
from pathlib import Path

from tools.dev.locks import try_lock
from tools.dev.pytest_servers import PREFIX, remove_leftovers


def test_removes_what_dead_runs_left_and_nothing_else(tmp_path: Path) -> None:
    dead, alive, foreign = (tmp_path / name for name in (f"{PREFIX}1", f"{PREFIX}2", "other"))
    for folder in (dead, alive, foreign):
        (folder / "postgresql").mkdir(parents=True)
    lock = try_lock(alive / "lock")

    remove_leftovers(tmp_path)

    assert not dead.exists()
    assert (alive / "postgresql").is_dir()
    assert (foreign / "postgresql").is_dir()
    os.close(lock)


def test_follows_no_link_out_of_the_temporary_folder(tmp_path: Path) -> None:
    precious = tmp_path / "precious"
    precious.mkdir()
    (tmp_path / f"{PREFIX}1").symlink_to(precious)

    remove_leftovers(tmp_path)

    assert precious.is_dir()
