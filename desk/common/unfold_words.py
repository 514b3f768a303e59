"""What Unfold says on pages of the desk and has no translations for; its templates ask for them."""

from django.utils.translation import gettext_noop

WORDS = {
    gettext_noop("Run"),
    gettext_noop("Welcome"),
    gettext_noop("Welcome back to"),
    gettext_noop("Forgotten your password or username?"),
    gettext_noop("Select all rows"),
    gettext_noop("No results found"),
    gettext_noop("No results matching your query"),
    gettext_noop("Loading more results..."),
    gettext_noop("Reset filters"),
    gettext_noop("Select record"),
    gettext_noop("Select action"),
    gettext_noop("Select action to run"),
    gettext_noop("Select value"),
    gettext_noop("Value"),
    gettext_noop("From"),
    gettext_noop("To"),
    gettext_noop("Date"),
    gettext_noop("Date from"),
    gettext_noop("Date to"),
    gettext_noop("Not enough data."),
    gettext_noop(
        "Raw passwords are not stored, so there is no way to see this user’s password, but you can"  # noqa: RUF001 - as Unfold has it
        ' change the password using <a href="{}" class="text-primary-600'
        ' dark:text-primary-500">this form</a>.'
    ),
}
