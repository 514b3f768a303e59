"""Who comes in through the provider."""

from faults.broken import Mutant

ATTEMPTS = "desk/people/sign_on/attempts.py"
IDENTITIES = "desk/people/sign_on/identities.py"
PAGES = "desk/people/sign_on/pages.py"
PASSWORDS = "desk/people/sign_on/passwords.py"
PROVIDER = "desk/people/sign_on/provider.py"

SIGN_ON = (
    Mutant(
        "sign-on-of-another-browser",
        ATTEMPTS,
        'if not constant_time_compare(attempt.state, request.GET.get("state", "")):',
        "if not attempt.state:",
        "A link signs somebody in as whoever made it.",
    ),
    Mutant(
        "sign-on-twice",
        ATTEMPTS,
        "return attempt if is_first(attempt.state) else None",
        "return attempt",
        "An answer of the provider's that was seen opens the desk again.",
    ),
    Mutant(
        "address-that-nobody-verified",
        IDENTITIES,
        "email if verified and isinstance(email, str) else",
        "email if isinstance(email, str) else",
        "Whoever writes a colleague's address into an account becomes that colleague.",
    ),
    Mutant(
        "address-of-somebody-bound",
        IDENTITIES,
        "    if SignOn.objects.filter(user=users[0]).exists():\n"
        '        raise SignOnRefused("bound_to_another", users[0])\n',
        "",
        "Who is given a colleague's old address signs in as that colleague.",
    ),
    Mutant(
        "first-of-two-with-one-address",
        IDENTITIES,
        "    if len(users) > 1:\n",
        "    if len(users) > 2:\n",
        "An address that two users have opens the older one's desk.",
    ),
    Mutant(
        "superusers-by-sign-on",
        IDENTITIES,
        "    if user.is_superuser:\n",
        "    if user.is_superuser and not user.is_active:\n",
        "The provider decides who has every right.",
    ),
    Mutant(
        "revoked-and-let-in",
        IDENTITIES,
        "if not user.is_active or not user.is_staff or revoked.exists():",
        "if not user.is_active or not user.is_staff:",
        "A revoked invitation lets its guest in.",
    ),
    Mutant(
        "roles-that-stay",
        IDENTITIES,
        "    user.groups.remove(*(roles.group(name) for name in had - given))\n",
        "",
        "Who has left the leads at the provider stays one at the desk.",
    ),
    Mutant(
        "provider-stands-for-any-second-factor",
        IDENTITIES,
        "return isinstance(said, list) and bool(SECOND_FACTORS & {str(one) for one in said})",
        "return isinstance(said, list)",
        "A password alone counts as two factors.",
    ),
    Mutant(
        "next-page-anywhere",
        PAGES,
        "return url if url and own and url.startswith(index) else index",
        "return url or index",
        "A link signs in and leads to a page that looks like the desk.",
    ),
    Mutant(
        "passwords-beside-the-provider",
        PASSWORDS,
        "if user is None or not user.is_superuser:",
        "if user is None:",
        "Who has left the provider signs in with the password that was forgotten.",
    ),
    Mutant(
        "provider-over-plain-http",
        PROVIDER,
        'parts.scheme == "https" or (parts.scheme == "http" and parts.hostname in LOOPBACK)',
        'parts.scheme in ("https", "http")',
        "Whoever listens on the way reads our secret.",
    ),
    Mutant(
        "secret-follows-a-redirect",
        PROVIDER,
        '"allow_redirects": False',
        '"allow_redirects": True',
        "A redirect of the provider's takes our secret along.",
    ),
)
