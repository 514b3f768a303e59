"""Who is signed in at the desk, who ends that, and how a forgotten password is set anew."""

from faults.broken import Mutant

LIST = "desk/people/session_list.py"
RESETS = "desk/people/resets.py"
SEEN = "desk/people/seen_sessions.py"
SESSIONS = "desk/common/sessions.py"
SIGNING_IN = "desk/people/signing_in.py"

PEOPLE = (
    Mutant(
        "sessions-of-a-superuser-ended-by-anybody",
        LIST,
        "    if user.is_superuser:\n        return False\n",
        "",
        "Operators sign superusers out, and see where they are.",
    ),
    Mutant(
        "sessions-of-somebody-else-ended",
        SESSIONS,
        "if data.get(SESSION_KEY) == str(user.pk):",
        "if SESSION_KEY in data:",
        "Whoever ends their other sessions signs everybody out.",
    ),
    Mutant(
        "session-lost-behind-another-key",
        SEEN,
        "                if before and before != key:\n"
        "                    follow_session(request.user, before, key)\n",
        "",
        "Behind a second factor nobody knows when a session began.",
    ),
    Mutant(
        "session-noted-at-each-page",
        SEEN,
        "WHERE known.seen_at < excluded.seen_at - make_interval(secs => %(every)s)\n",
        "",
        "Each process writes when a session was seen.",
    ),
    Mutant(
        "reset-for-seven-days",
        RESETS,
        " and self.age(token) <= VALID_FOR",
        "",
        "A link for a new password opens a week later.",
    ),
    Mutant(
        "reset-twice",
        RESETS,
        "if not reset_tokens.check_token(locked, token):",
        "if token is None:",
        "Of two who have the link, the later sets the password.",
    ),
    Mutant(
        "reset-leaves-sessions",
        RESETS,
        "ended = sessions.end_others(locked, None)",
        "ended = 0",
        "The audit says that nobody was signed out.",
    ),
    Mutant(
        "reset-for-who-has-no-password",
        SIGNING_IN,
        " and user.has_usable_password()",
        "",
        "Whoever comes another way gets a password.",
    ),
    Mutant(
        "reset-bounds-never-open",
        RESETS,
        "    return ResetRequest.objects.filter(asked_at__gt=timezone.now() - WITHIN)\n",
        "    return ResetRequest.objects.all()\n",
        "A name that was asked for three times is refused until the next pruning.",
    ),
    Mutant(
        "reset-counted-whoever-asks",
        RESETS,
        'counted = keyed_digest(f"{asker} {fold_name(name)}")',
        "counted = keyed_digest(fold_name(name))",
        "Three requests by a stranger lock the owner out for an hour.",
    ),
    Mutant(
        "reset-matched-by-another-folding",
        RESETS,
        "        and fold_name(name) in (fold_name(user.username), fold_name(user.email))\n",
        "",
        "A name with dotless letters gets three letters more for each spelling.",
    ),
)
