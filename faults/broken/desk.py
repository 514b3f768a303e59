"""Who may do what at the desk, what each page counts, and what leaves it as a file."""

from faults.broken import Mutant
from faults.broken.figures import FIGURES
from faults.broken.people import PEOPLE
from faults.broken.sign_on import SIGN_ON

ACTING = "desk/support/actions.py"
EVIDENCE = "desk/support/evidence.py"
EXPORT = "desk/queue/export.py"
FIELD_FILTER = "desk/queue/field_filter.py"
FILTERS = "desk/queue/filters.py"
LOOKUP = "desk/support/lookup.py"
SEARCH = "desk/queue/search.py"
SEARCH_STATEMENTS = "desk/queue/search_statements.py"
TIMELINE = "desk/ticket/timeline.py"
TOGETHER = "desk/ticket/together.py"
USERS = "desk/people/user_admin.py"
WEBHOOKS = "desk/support/webhook_admin.py"

DESK = (
    *FIGURES,
    *PEOPLE,
    *SIGN_ON,
    Mutant(
        "evidence-for-anybody",
        EVIDENCE,
        "if not user.is_active or not user.has_perms(needed):",
        "if not user.is_active:",
        "Whoever signs in takes away what was sent to companies.",
    ),
    Mutant(
        "evidence-of-another-company",
        EVIDENCE,
        "pk=ticket.shipment_id or 0, company=ticket.company_id",
        "pk=ticket.shipment_id or 0",
        "A file for one company holds another's parcel.",
    ),
    Mutant(
        "evidence-leaves-no-trace",
        EVIDENCE,
        '    record_history(ticket, actor, Kind.EVIDENCE_TAKEN, data={"sha256": digest})\n',
        "",
        "Nobody knows who took what away.",
    ),
    Mutant(
        "list-for-anybody",
        EXPORT,
        "        if not self.has_export_permission(request):\n            raise PermissionDenied\n",
        "",
        "Any agent takes all tickets home.",
    ),
    Mutant(
        "one-in-a-thousand-left-out",
        EXPORT,
        "ordered.filter(pk__lt=page[-1].pk)",
        "ordered.filter(pk__lt=page[-1].pk - 1)",
        "Rows are missing from a long file.",
    ),
    Mutant(
        "formulas-behind-a-space",
        "desk/common/csv_files.py",
        "(?=\\s*[=+",
        "(?=[=+",
        "A file that an agent opens runs what a company wrote.",
    ),
    Mutant(
        "formulas-with-an-at-sign",
        "desk/common/csv_files.py",
        "[=+\\-@",
        "[=+\\-",
        "A file that an agent opens runs what a company wrote.",
    ),
    Mutant(
        "found-by-anothers-parcel",
        SEARCH_STATEMENTS,
        "ON ticket.shipment_id = parcel.id AND ticket.company_id = parcel.company_id",
        "ON ticket.shipment_id = parcel.id",
        "A tracking number finds the ticket of a company that only guessed its id.",
    ),
    Mutant(
        "palette-for-anybody",
        SEARCH,
        "    if sees_tickets:\n        exact",
        "    if user.is_active:\n        exact",
        "An operator reads about tickets.",
    ),
    Mutant(
        "letters-in-any-order",
        SEARCH_STATEMENTS,
        " AND tracking LIKE '%%' || %(part)s || '%%'",
        "",
        "A part of a tracking number finds parcels that only have its letters.",
    ),
    Mutant(
        "one-of-several-opens",
        "desk/queue/search_tickets.py",
        "return ids[0] if len(ids) == 1 else None",
        "return ids[0] if ids else None",
        "A parcel's number opens one of its tickets, and nobody sees the others.",
    ),
    Mutant(
        "last-day-left-out-of-the-list",
        FILTERS,
        "end = self.midnight(value, later=1)",
        "end = self.midnight(value)",
        "The last day of a period is missing.",
    ),
    Mutant(
        "a-long-number-breaks-the-list",
        FILTERS,
        "tickets.filter(company=typed_id(value) or 0)",
        "tickets.filter(company=int(value))",
        "A mistyped id is a page that says that something went wrong.",
    ),
    Mutant(
        "unknown-choice-shows-everything",
        FIELD_FILTER,
        "return queryset.none()",
        "return queryset",
        "A link to a type that is gone shows all tickets as its.",
    ),
    Mutant(
        "operators-sign-in-as-leads",
        USERS,
        "return not user.is_superuser and permissions_of(user) <= actor.get_all_permissions()",
        "return not user.is_superuser",
        "An operator sets a lead's password and signs in with it.",
    ),
    Mutant(
        "operators-make-leads",
        USERS,
        "        <= held\n",
        "        >= set()\n",
        "An operator puts themselves into any group.",
    ),
    Mutant(
        "operators-change-superusers",
        USERS,
        "(obj is None or request.user.is_superuser or not obj.is_superuser)",
        "True",
        "An operator switches the superuser off.",
    ),
    Mutant(
        "anybodys-second-factor",
        USERS,
        "chosen = [user for user in queryset if may_manage(request.user, user)]",
        "chosen = list(queryset)",
        "An operator removes a lead's second factor.",
    ),
    Mutant(
        "agents-hand-over",
        "desk/people/agent_admin.py",
        "return request.user.has_perm(ASSIGN)",
        "return request.user.is_staff",
        "Whoever may see agents gives away their tickets.",
    ),
    Mutant(
        "anybody-pauses",
        ACTING,
        "if not user.is_active or not user.has_perm(permission):",
        "if not user.is_active:",
        "A page that forgets to ask lets anybody stop a company's events.",
    ),
    Mutant(
        "sends-for-deleted-webhooks",
        ACTING,
        "Delivery.objects.filter(pk__in=ids, webhook__deleted_at=None)",
        "Delivery.objects.filter(pk__in=ids)",
        "A company gets what it asked not to get any more.",
    ),
    Mutant(
        "pauses-leave-no-trace",
        ACTING,
        '    log_act(user, webhook_id, gettext("Paused: %(reason)s") % {"reason": reason})\n',
        "",
        "Nobody knows who stopped a company's events.",
    ),
    Mutant(
        "pause-page-for-anybody",
        WEBHOOKS,
        "return request.user.has_perm(actions.PAUSE)",
        "return request.user.is_staff",
        "An agent sees a button that they may not press.",
    ),
    Mutant(
        "delivery-of-another-company",
        LOOKUP,
        "if delivery is None or company not in (None, delivery.webhook.company):",
        "if delivery is None:",
        "Who looks for one company's event is shown another's.",
    ),
    Mutant(
        "events-of-another-company",
        LOOKUP,
        "if event.company_id == company.pk and type_id in",
        "if type_id in",
        "Who looks for one company's parcel is shown another's of the same number.",
    ),
    Mutant(
        "anothers-shipment-on-a-ticket",
        TIMELINE,
        "own = Shipment.objects.filter(company=ticket.company_id)",
        "own = Shipment.objects.all()",
        "An agent tells a company about another's parcel.",
    ),
    Mutant(
        "anothers-tickets-on-a-ticket",
        TOGETHER,
        "Ticket.objects.filter(company=ticket.company_id, shipment_id=ticket.shipment_id)",
        "Ticket.objects.filter(shipment_id=ticket.shipment_id)",
        "An agent tells a company about another's ticket.",
    ),
)
