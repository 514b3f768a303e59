import os
import subprocess

from tools.dev.bootstrap import PYTHON, ROOT


def test_finds_nothing_to_say_about_style_formatting_and_templates() -> None:
    lint = subprocess.run(
        [ROOT / "dev", "lint"], capture_output=True, text=True, check=False, timeout=300
    )

    assert lint.returncode == 0, lint.stdout + lint.stderr


def test_a_bad_template_is_named_by_line_and_rule() -> None:
    lint = subprocess.run(
        [PYTHON.with_name("djlint"), "--lint", "-"],
        cwd=ROOT,
        # With that variable it would write annotations for the page of a pull request.
        env={name: value for name, value in os.environ.items() if name != "GITHUB_ACTIONS"},
        input=f"<p>Fine</p>\n<button>No type</button>\n<p>{'long ' * 30}</p>\n",
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )

    assert lint.returncode == 1
    first, second = lint.stdout.splitlines()
    assert first.startswith("-:2:0: H043 Button tag should have a type attribute.")
    assert second.startswith("-:3:0: P001 Longer than 120 characters.")
