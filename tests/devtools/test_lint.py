import subprocess

from devtools.bootstrap import ROOT


def test_finds_nothing_to_say_about_style_and_formatting() -> None:
    lint = subprocess.run(
        [ROOT / "dev", "lint"], capture_output=True, text=True, check=False, timeout=60
    )

    assert lint.returncode == 0, lint.stdout + lint.stderr
