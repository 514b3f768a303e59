"""Why tickets are decided and about how much money, and up to which amount agents accept."""

from decimal import Decimal

import django.core.validators
import django.db.models.deletion
from django.apps.registry import Apps
from django.db import migrations, models
from django.db.backends.base.schema import BaseDatabaseSchemaEditor
from django.db.models import Q

from companies.migration_steps import LockLast

KINDS = (
    "opened moved move_refused data_changed assigned unassigned taken reassigned handed_over"
    " related unrelated documents_requested appealed appeal_decided file_added amounts_changed"
    " evidence_taken other"
)
CODE = django.core.validators.RegexValidator(
    "^[a-z][a-z0-9_]*\\Z",
    "Start with a lower-case letter; then use lower-case letters, digits and _.",
)
MOST = Decimal("10000000000")
# Code, names in English and Spanish, and whether it is for Accepted and for Declined.
CODES = [
    ("carrier_liable", "The carrier is liable", "La paquetería es responsable", True, False),
    ("loss_confirmed", "Loss confirmed", "Pérdida confirmada", True, False),
    ("damage_confirmed", "Damage confirmed", "Daño confirmado", True, False),
    ("charge_wrong", "The charge was wrong", "El cargo era incorrecto", True, False),
    ("request_done", "Request carried out", "Solicitud realizada", True, False),
    ("goodwill", "Goodwill", "Cortesía comercial", True, False),
    ("evidence_missing", "Evidence is missing", "Faltan pruebas", False, True),
    ("packaging", "Insufficient packaging", "Embalaje insuficiente", False, True),
    ("claimed_late", "Claimed too late", "Reclamación fuera de plazo", False, True),
    ("delivered", "Delivered as agreed", "Entregado según lo acordado", False, True),
    ("not_covered", "Not covered", "Sin cobertura", False, True),
    ("prohibited_content", "Prohibited content", "Contenido prohibido", False, True),
    ("wrong_details", "Wrong details given", "Datos incorrectos", False, True),
    ("charge_correct", "The charge was correct", "El cargo era correcto", False, True),
    ("requirements_not_met", "Requirements not met", "No cumple los requisitos", False, True),
    ("withdrawn", "Withdrawn by the company", "Retirada por la empresa", False, True),
    ("other", "Other", "Otro", True, True),
]


def add_codes(apps: Apps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    ReasonCode = apps.get_model("tickets", "ReasonCode")
    ReasonCode.objects.bulk_create(
        ReasonCode(
            code=code,
            name_en=english,
            name_es=spanish,
            for_accepted=accepted,
            for_declined=declined,
            position=10 * position,
        )
        for position, (code, english, spanish, accepted, declined) in enumerate(CODES, start=1)
    )


def amount() -> "models.DecimalField[Decimal | None, Decimal | None]":
    return models.DecimalField(decimal_places=3, editable=False, max_digits=14, null=True)


def text(length: int) -> "models.CharField[str, str]":
    return models.CharField(
        blank=True, db_default="", default="", editable=False, max_length=length
    )


class Migration(migrations.Migration):
    dependencies = [("tickets", "0016_search_entries")]

    operations = [
        migrations.AlterField(
            "historyentry",
            "kind",
            models.CharField(
                choices=[(one, one.replace("_", " ")) for one in KINDS.split()],
                db_default="other",
                max_length=30,
            ),
        ),
        migrations.CreateModel(
            name="ReasonCode",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                (
                    "code",
                    models.CharField(
                        help_text="For programs and reports, for example damage_confirmed."
                        " It never changes.",
                        max_length=40,
                        unique=True,
                        validators=[CODE],
                        verbose_name="code",
                    ),
                ),
                ("name_en", models.CharField(max_length=100, verbose_name="name in English")),
                ("name_es", models.CharField(max_length=100, verbose_name="name in Spanish")),
                ("for_accepted", models.BooleanField(default=False, verbose_name="for Accepted")),
                ("for_declined", models.BooleanField(default=False, verbose_name="for Declined")),
                (
                    "active",
                    models.BooleanField(
                        default=True,
                        help_text="Codes that are not active are not offered.",
                        verbose_name="active",
                    ),
                ),
                (
                    "position",
                    models.PositiveSmallIntegerField(
                        default=100,
                        help_text="Smaller numbers are offered first.",
                        verbose_name="position",
                    ),
                ),
                (
                    "types",
                    models.ManyToManyField(
                        blank=True,
                        help_text="None means all.",
                        to="tickets.tickettype",
                        verbose_name="ticket types",
                    ),
                ),
            ],
            options={
                "verbose_name": "reason code",
                "verbose_name_plural": "reason codes",
                "ordering": ["position", "code"],
            },
        ),
        migrations.CreateModel(
            name="ApprovalLimit",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("currency", models.CharField(max_length=3, verbose_name="currency")),
                (
                    "amount",
                    models.DecimalField(
                        decimal_places=3,
                        max_digits=14,
                        validators=[django.core.validators.MinValueValidator(0)],
                        verbose_name="amount",
                    ),
                ),
                (
                    "agent",
                    models.ForeignKey(
                        blank=True,
                        help_text="Leave empty for all agents who are not leads and have no limit"
                        " of their own.",
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="approval_limits",
                        to="tickets.agent",
                        verbose_name="agent",
                    ),
                ),
            ],
            options={
                "verbose_name": "approval limit",
                "verbose_name_plural": "approval limits",
                "ordering": ["agent", "currency"],
                "constraints": [
                    models.UniqueConstraint(
                        fields=("agent", "currency"),
                        name="one_approval_limit_per_agent_and_currency",
                        nulls_distinct=False,
                    ),
                    models.CheckConstraint(
                        condition=Q(amount__gte=0, amount__lte=MOST),
                        name="approval_limit_in_range",
                    ),
                ],
            },
        ),
        migrations.RunPython(add_codes, migrations.RunPython.noop),
        LockLast(
            "tickets_ticket",
            operations=[
                migrations.AddField("ticket", "amount_claimed", amount()),
                migrations.AddField("ticket", "amount_offered", amount()),
                migrations.AddField("ticket", "amount_paid", amount()),
                migrations.AddField("ticket", "currency", text(3)),
                migrations.AddField("ticket", "reason_code", text(40)),
            ],
        ),
    ]
