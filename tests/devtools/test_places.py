import os
import stat
from pathlib import Path

import pytest

from tools.dev.places import data_folder, lasting_place, own, socket_folder
from tools.dev.trouble import UsageError


def test_sockets_lie_beside_the_data_where_the_path_is_short() -> None:
    assert socket_folder(Path("/srv/parceldesk")) == Path("/srv/parceldesk/sockets")


@pytest.mark.parametrize(
    "files",
    [Path("/srv/" + "long/" * 20), Path("/srv/with a space"), Path("/srv/with%41"), Path("/srv/ñ")],
    ids=["long", "space", "percent", "accent"],
)
def test_sockets_move_to_a_short_plain_path_otherwise(files: Path) -> None:
    sockets = socket_folder(files)

    assert len(f"{sockets}/.s.PGSQL.5432") <= 107
    assert str(sockets).isascii()
    assert not set(" %") & set(str(sockets))
    assert socket_folder(files) == sockets
    assert socket_folder(files / "other") != sockets
    for folder in (sockets.parent, socket_folder(files / "other").parent):
        folder.rmdir()


def test_a_socket_folder_laid_out_by_someone_else_is_refused(tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    guessed = tmp_path / "guessed"
    guessed.symlink_to(elsewhere)

    with pytest.raises(UsageError, match="belongs to someone else"):
        own(guessed)


def test_makes_the_data_folder_where_it_is_asked_to(tmp_path: Path) -> None:
    folder = data_folder({"DATA_DIR": str(tmp_path / "a" / "b")})

    assert folder == tmp_path / "a" / "b"
    mode = stat.S_IMODE(folder.stat().st_mode)
    assert mode == (0o711 if os.geteuid() == 0 else 0o700)


def test_leaves_the_permissions_of_folders_above_alone(tmp_path: Path) -> None:
    private = tmp_path / "private"
    private.mkdir(mode=0o700)

    place = lasting_place(data_folder({"DATA_DIR": str(private / "data")}))

    assert stat.S_IMODE(private.stat().st_mode) == 0o700
    assert place.sockets.is_dir()
    assert lasting_place(private / "data") == place
    if place.account:
        assert not place.files.is_relative_to(private)
        place.sockets.rmdir()
        place.files.rmdir()
