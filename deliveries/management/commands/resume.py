from typing import Any

from companies.commands import CommandResult, OperatorCommand
from deliveries.engine import holding


class Command(OperatorCommand):
    help = "Have the engine loops go on after `drain`; what waited goes out, in order."
    example = "python manage.py resume"

    def run(self, *args: Any, **options: Any) -> CommandResult:
        since = holding.resume_sending()
        if since is None:
            return CommandResult("nothing was drained", {"draining": False, "since": None})
        text = f"sending again, after a drain since {since:%Y-%m-%d %H:%M:%S} UTC"
        return CommandResult(text, {"draining": False, "since": since}, text)
