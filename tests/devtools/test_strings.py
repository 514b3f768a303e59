"""The list of texts contains everything that people read, and nothing else."""

from pathlib import Path

import pytest

from tools.dev import strings

CODE = '''
"""A docstring."""

from django import forms

SQL = "SELECT 1 FROM tickets WHERE open"
NAME = "one_word"


class Form(forms.Form):
    text = forms.CharField(label="Reply", help_text=f"At most {MOST} characters.")


def refuse() -> None:
    raise ValueError("Write something.")
'''
TEMPLATE = """{% if open %}
<p title="Close this">Nothing is <b>late</b>.</p>
{% endif %}<script>const text = "not this";</script><i>{{ name }}</i>
"""


def test_code_gives_its_sentences_and_labels(tmp_path: Path) -> None:
    path = tmp_path / "code.py"
    path.write_text(CODE)

    assert sorted(strings.in_code(path)) == [
        (11, "At most {MOST} characters."),
        (11, "Reply"),
        (15, "Write something."),
    ]


def test_templates_give_their_text_and_what_is_read_out(tmp_path: Path) -> None:
    path = tmp_path / "page.html"
    path.write_text(TEMPLATE)

    assert strings.in_template(path) == [(2, "Close this"), (2, "Nothing is"), (2, "late")]


def test_the_command_lists_each_text_with_its_place(capsys: pytest.CaptureFixture[str]) -> None:
    assert strings.main(["webhooks"]) == 0

    assert "webhooks/targets.py:" in capsys.readouterr().out
