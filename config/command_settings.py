"""Settings that commands use: a command stops on a wrong one of these, and on no other.

A token has to be revoked and a host held also while a certificate or a mail server is being set up.
Web and worker stop on any wrong setting (config.startup), and so does `check`.
Why: decision page config-unsafe-settings-stop-every-process.
"""

from django.core.management import ManagementUtility
from django.core.management.base import BaseCommand

from core.watch.checks import Use

# The database opens without any of them; without the keys its secrets stay shut.
ALWAYS = (Use.KEYS,)
MORE = {
    "anonymise": (Use.FILES,),
    "automations": (Use.TICKETS,),
    "create_company": (Use.LANGUAGE,),
    "decide_appeal": (Use.TICKETS,),
    "erase_company": (Use.FILES,),
    "export_company": (Use.FILES,),
    "import_agents": (Use.LANGUAGE, Use.SIGN_ON),
    "issue_platform_token": (Use.TOKENS,),
    "issue_token": (Use.TOKENS,),
    "prune": (Use.FILES, Use.RETENTION),
}
EVERYTHING = frozenset({"check", "runserver", "testserver"})


def tags_for(name: str) -> tuple[str, ...]:
    """Tags of the checks that run before a command."""
    return (*ALWAYS, *MORE.get(name, ()))


class Commands(ManagementUtility):
    """Django's way to run a command, with our choice of checks."""

    def fetch_command(self, subcommand: str) -> BaseCommand:
        command = super().fetch_command(subcommand)
        if command.requires_system_checks == "__all__" and subcommand not in EVERYTHING:
            command.requires_system_checks = tags_for(subcommand)
        return command
