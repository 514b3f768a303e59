"""Settings that commands use: a command stops only if one of its own is wrong.

Operators must be able to revoke a token or pause a host while a certificate or a mail server is
still being set up. Web, worker and `check` stop on any wrong setting (config.startup).
Why: decision page config-unsafe-settings-stop-every-process.
"""

from django.core.management import ManagementUtility
from django.core.management.base import BaseCommand

from core.watch.checks import Use

# Every command may read secrets of the database, which need the keys.
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
    """Return the tags of the checks that run before a command."""
    return (*ALWAYS, *MORE.get(name, ()))


class Commands(ManagementUtility):
    """Django's command runner with our choice of checks."""

    def fetch_command(self, subcommand: str) -> BaseCommand:
        command = super().fetch_command(subcommand)
        if command.requires_system_checks == "__all__" and subcommand not in EVERYTHING:
            command.requires_system_checks = tags_for(subcommand)
        return command
