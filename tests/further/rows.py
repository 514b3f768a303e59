"""Loads statuses, stated fields, jobs, measures and gauges with more. The files stay as they are.

Their ids, names and keys are those that nobody wants, so that no real status meets them.
"""

import sys
from collections.abc import Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from types import CodeType, ModuleType

# The order of the rows is the order of every list.
STATUSES = """\
    SAMPLE_HELD = (
        9001,
        Row(
            turn=Turn.OTHERS,
            label=gettext_noop("Sample held"),
            colour=Colour.AMBER,
            follow_up_by_request=True,
            follow_up_by_comment=True,
            returns_after=timedelta(days=3),
            move=AgentMove(
                verb=gettext_noop("Hold sample"),
                action=gettext_noop("Hold selected samples"),
                key="y",
                needs_reason=True,
            ),
        ),
    )
    SAMPLE_ASKED = (
        9002,
        Row(
            turn=Turn.COMPANY,
            label=gettext_noop("Sample asked"),
            colour=Colour.AMBER,
            follow_up_by_request=True,
            move=AgentMove(
                verb=gettext_noop("Ask for sample"),
                action=gettext_noop("Ask for selected samples"),
                key="x",
                needs_reason=True,
                notifies_company=True,
            ),
        ),
    )
"""
# A column that companies cannot state in production. The labels are words that are translated.
FIELDS = """\
    StatedField(
        name="carrier_name",
        label=gettext_noop("Sample field"),
        choices=(
            ("sample_low", gettext_noop("Accepted")),
            ("sample_high", gettext_noop("Declined")),
        ),
        in_events=True,
    ),
"""
# The job marks processed rows, so that processing one twice is noticed.
JOBS = """\
@job(every=timedelta(minutes=1), limit_seconds=120, batch=2)
def mark_samples() -> int:
    from core.measures import catalogue, counting
    from tickets.models import Ticket

    found = Ticket.objects.filter(carrier_name="").values("pk")[:2]
    marked = Ticket.objects.filter(pk__in=list(found.values_list("pk", flat=True)))
    count = marked.update(carrier_name="sample")
    counting.count(catalogue.SAMPLES, "marked", by=count)
    return count


"""
MEASURES = """
SAMPLES = CountMeasure("samples", "Tickets that were marked", ("how",))
"""
GAUGES = """
@gauges
def of_samples(now: datetime) -> Gauges:
    found = Ticket.objects.filter(carrier_name="sample").count()
    yield gauge("samples_open", "Tickets that are marked", found)

"""
# Rows to insert by module: the text that they precede, and the rows.
ROWS = {
    "tickets.statuses": (STATUSES, "    CLAIM_IN_REVIEW = "),
    "tickets.stated_fields": (FIELDS, ")\nSTATED_TEXTS = "),
    "tickets.jobs": (JOBS, "@job(every=timedelta(minutes=5), limit_seconds=120)\ndef check_loads"),
    "core.measures.catalogue": (MEASURES, "\nALL: "),
    "tickets.gauges": (GAUGES, "\n@gauges\ndef of_tickets"),
}


class Loader(SourceFileLoader):
    def get_data(self, path: str) -> bytes:
        source = super().get_data(path).decode()
        rows, before = ROWS[self.name]
        assert source.count(before) == 1
        return source.replace(before, rows + before).encode()

    def get_code(self, fullname: str) -> CodeType:
        # Use no bytecode that was compiled without the rows, and write none with them.
        path = self.get_filename(fullname)
        return self.source_to_code(self.get_data(path), path)


class Finder(MetaPathFinder):
    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        spec = PathFinder.find_spec(fullname, path) if fullname in ROWS else None
        if spec is not None and spec.origin is not None:
            spec.loader = Loader(fullname, spec.origin)
        return spec


def add() -> None:
    """Add the rows to the tables. Call it before anything imports them."""
    assert not ROWS.keys() & sys.modules.keys()
    sys.meta_path.insert(0, Finder())
