"""The desk's figures, and what a ticket's page shows of the moment."""

from faults.broken import Mutant

DASHBOARD = "desk/reports/dashboard.py"
FAIRNESS = "desk/reports/fairness.py"
COUNTING = "desk/reports/figures.py"
MACROS = "desk/ticket/macros.py"
VISITS = "desk/ticket/visits.py"

FIGURES = (
    Mutant(
        "late-is-early",
        COUNTING,
        "count(*) FILTER (WHERE decided_at > resolution_due_at)",
        "count(*) FILTER (WHERE decided_at < resolution_due_at)",
        "Who is always in time is said to be always late.",
    ),
    Mutant(
        "a-day-too-many",
        COUNTING,
        "timedelta(days=self.days - 1)",
        "timedelta(days=self.days)",
        "The figures of a week are of eight days.",
    ),
    Mutant(
        "nine-of-ten-are-half",
        COUNTING,
        "percentile_disc(ARRAY[0.5, 0.9])",
        "percentile_disc(ARRAY[0.5, 0.5])",
        "The slowest tickets are in no figure.",
    ),
    Mutant(
        "ages-upside-down",
        COUNTING,
        "made.by_age[len(AGES) - age]",
        "made.by_age[age]",
        "What has just come in is said to be a month old.",
    ),
    Mutant(
        "nobody-is-unassigned",
        COUNTING,
        "unassigned += numbers[0] if agent_id is None else 0",
        "unassigned += numbers[0] if agent_id == 0 else 0",
        "Tickets that nobody has are in no figure.",
    ),
    Mutant(
        "figures-for-anybody",
        DASHBOARD,
        "    if not request.user.has_perm(FIGURES):\n        raise PermissionDenied",
        "    if not request.user.is_active:\n        raise PermissionDenied",
        "An agent reads how quick the others are.",
    ),
    Mutant(
        "one-key-for-all-scopes",
        DASHBOARD,
        '":".join(map(str, scope[:3]))',
        '":".join(map(str, scope[:1]))',
        "A lead who chooses a type reads the figures of all.",
    ),
    Mutant(
        "everybodys-day",
        DASHBOARD,
        "        .filter(agent=agent)\n",
        "        .filter()\n",
        "An agent's own day counts the tickets of all.",
    ),
    Mutant(
        "fair-whatever-the-capacity",
        FAIRNESS,
        "capacity / all_capacity,",
        "1 / len(rows),",
        "Who works half the time looks as if they shirked.",
    ),
    Mutant(
        "inactive-macros",
        MACROS,
        "Q(types=ticket.type_id), active=True)",
        "Q(types=ticket.type_id))",
        "An agent sends what was withdrawn.",
    ),
    Mutant(
        "macros-for-all-types-are-gone",
        MACROS,
        "Q(types=None) | Q(types=ticket.type_id)",
        "Q(types=ticket.type_id)",
        "Macros without types are nowhere.",
    ),
    Mutant(
        "looks-at-oneself",
        VISITS,
        'there.exclude(user=user).order_by("-writing"',
        'there.order_by("-writing"',
        "An agent is told that they are there.",
    ),
    Mutant(
        "a-form-counts-twice",
        VISITS,
        "mine.exclude(last_form=form).update(last_form=form)",
        "mine.update(last_form=form)",
        "A double click answers twice.",
    ),
    Mutant(
        "there-for-ever",
        VISITS,
        "Visit.objects.filter(ticket=ticket_id, alive_at__gte=timezone.now() - GONE_AFTER)",
        "Visit.objects.filter(ticket=ticket_id)",
        "Who has gone home is still said to be replying.",
    ),
    Mutant(
        "any-link-is-public",
        "desk/ticket/values.py",
        "    except targets.BadTarget:\n        return False\n",
        "    except targets.BadTarget:\n        pass\n",
        "An agent clicks on a link into our own network.",
    ),
    Mutant(
        "nothing-is-counted-again",
        "desk/common/cache.py",
        "    if found is None:\n",
        "    if not found:\n",
        "What is truly nothing is counted again at every click.",
    ),
)
