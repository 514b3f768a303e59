"""`honcho start`, which a Procfile invites to: nothing stops because the release has ended."""

import os
import re
import signal
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
HONCHO = [sys.executable, "-m", "honcho"]


def line_of_release() -> str:
    (line,) = re.findall(r"^release: (.*)", (ROOT / "Procfile").read_text(), re.MULTILINE)
    return line


def test_release_ends_where_a_platform_runs_it() -> None:
    ended = subprocess.run(
        ["/bin/sh", "-c", line_of_release().replace("python manage.py migrate --noinput", "true")],
        env={"PATH": os.environ["PATH"]},
        timeout=120,
    )

    assert ended.returncode == 0


def test_honcho_start_goes_on_after_the_release(tmp_path: Path) -> None:
    release = line_of_release().replace("python manage.py migrate --noinput", "echo migrated")
    (tmp_path / "Procfile").write_text(f"release: {release}\nweb: sleep 1; echo served; sleep 60\n")
    running = subprocess.Popen(
        [*HONCHO, "start"], cwd=tmp_path, stdout=subprocess.PIPE, text=True, bufsize=1
    )
    output = []
    assert running.stdout
    for line in running.stdout:
        output.append(line)
        if "served" in line and "started" not in line:
            running.send_signal(signal.SIGTERM)
            break
        assert "stopped" not in line, output
    running.communicate(timeout=120)

    assert any("migrated" in line for line in output)


def test_honcho_start_ends_where_the_release_fails(tmp_path: Path) -> None:
    release = line_of_release().replace("python manage.py migrate --noinput", "false")
    (tmp_path / "Procfile").write_text(f"release: {release}\nweb: exec sleep 60\n")

    ended = subprocess.run([*HONCHO, "start"], cwd=tmp_path, capture_output=True, timeout=120)

    assert ended.returncode == 1
