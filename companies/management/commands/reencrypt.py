from typing import Any

from companies.commands import CommandResult, OperatorCommand
from core.data.reencryption import Census, reencrypt_all, take_census


class Command(OperatorCommand):
    help = """Encrypt every stored secret with the first of FIELD_KEYS, the newest, and say how many
each key still opens.

It works in short batches, each committed by itself, so it may be stopped and started again, and
runs while the service works. It exits with 1 if something is left that the newest key does not
open. With --dry-run it counts only. Run it after a change of FIELD_KEYS."""
    example = "python manage.py reencrypt --dry-run\npython manage.py reencrypt"
    rehearses = True

    def run(self, *args: Any, dry_run: bool, **options: Any) -> CommandResult:
        rewritten = 0 if dry_run else reencrypt_all(self.show)
        census = take_census(self.show)
        outcome = f"rewrote {rewritten}, {census.outdated} are not encrypted with the newest key"
        failed = f"{census.outdated} secrets are not encrypted with the newest key."
        return CommandResult(
            census_as_text(rewritten, census),
            census_as_data(rewritten, census),
            outcome,
            failed if census.outdated and not dry_run else False,
        )


def census_as_text(rewritten: int, census: Census) -> str:
    lines = [f"{rewritten} rewritten"]
    for position, count in enumerate(census.by_key, start=1):
        lines.append(f"key {position} of FIELD_KEYS opens {count}")
    lines.append(f"no key opens {census.unreadable}")
    lines += [f"  {row}" for row in census.unreadable_rows]
    return "\n".join(lines)


def census_as_data(rewritten: int, census: Census) -> dict[str, Any]:
    return {
        "rewritten": rewritten,
        "by_key": census.by_key,
        "unreadable": census.unreadable,
        "unreadable_rows": census.unreadable_rows,
    }
