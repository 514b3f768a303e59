from typing import Any

from django.core.exceptions import ValidationError
from django.db import models
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from tickets.labels import type_label

# Form elements of a type's input.
ELEMENTS = ("input", "select")
# Members of each entry with their types.
INPUT = {"name": str, "el": str, "required": bool, "type": str, "label": str, "options": list}
FILE = {"name": str, "description": str, "type": str, "required": bool}


def check_inputs(value: Any) -> None:
    """Raise ValidationError unless a value is a list of inputs."""
    check_entries(value, INPUT, {"name", "el", "required"})
    for entry in value:
        if entry["el"] not in ELEMENTS:
            text = gettext('"el" is one of %(known)s.')
            raise ValidationError(text % {"known": ", ".join(ELEMENTS)})
        if not all(isinstance(option, str) for option in entry.get("options", ())):
            raise ValidationError(gettext('"options" is a list of texts.'))


def check_files(value: Any) -> None:
    """Raise ValidationError unless a value is a list of files."""
    check_entries(value, FILE, {"name"})


def check_entries(value: Any, members: dict[str, type], required: set[str]) -> None:
    if not isinstance(value, list) or not all(isinstance(entry, dict) for entry in value):
        raise ValidationError(gettext("Write a JSON list of objects, as the example shows."))
    for entry in value:
        if missing := sorted(required - entry.keys()):
            text = gettext("Each entry needs %(members)s.")
            raise ValidationError(text % {"members": ", ".join(missing)})
        for name, member in entry.items():
            kind = members.get(name)
            if kind is None:
                text = gettext('An entry has no "%(name)s": there are %(known)s.')
                raise ValidationError(text % {"name": name, "known": ", ".join(members)})
            if type(member) is not kind:
                raise ValidationError(kind_error(kind) % {"name": name})


def kind_error(kind: type) -> str:
    if kind is str:
        return gettext('"%(name)s" is a text.')
    return (
        gettext('"%(name)s" is true or false.')
        if kind is bool
        else gettext('"%(name)s" is a list.')
    )


class TicketTypeQuerySet(models.QuerySet["TicketType"]):
    def offered(self) -> "TicketTypeQuerySet":
        """Filter types that companies may open; tickets of other types continue (decision N27)."""
        return self.filter(active=True)


class TicketType(models.Model):
    """Subject of tickets. It is a table, as the interface's list is incomplete (decision T14)."""

    class Reference(models.TextChoices):
        """Kind of object that a ticket of this type is about; clients know the values."""

        NOTHING = "", _("nothing")
        SHIPMENT = "guide", _("a shipment")
        CREDIT = "credit", _("a credit")
        PACKAGE = "warehouse-package", _("a warehouse package")
        DOCUMENTS = "legal-credit", _("documents")

    id = models.PositiveIntegerField(primary_key=True)
    name = models.CharField(_("name"), max_length=50, unique=True)
    description = models.CharField(_("description"), max_length=300, blank=True)
    reference = models.CharField(_("reference"), max_length=20, choices=Reference, blank=True)
    # False for PO box tickets, which may omit their package.
    reference_required = models.BooleanField(_("reference required"), default=True)
    active = models.BooleanField(_("active"), default=True)
    # Shown by clients in forms and used by AI assistants; the service does not enforce them.
    inputs = models.JSONField(
        _("inputs"),
        blank=True,
        default=list,
        db_default=[],
        validators=[check_inputs],
        help_text=_(
            "What companies are asked for with a ticket of this type, as a JSON list:"
            ' [{"name": "content", "el": "input", "required": true, "label": "What is in it?"}].'
            " A select also has options, a list of texts."
        ),
    )
    files = models.JSONField(
        _("files"),
        blank=True,
        default=list,
        db_default=[],
        validators=[check_files],
        help_text=_(
            "What companies are asked to send with it, as a JSON list:"
            ' [{"name": "Photo of the damage", "description": "The box from outside."}].'
        ),
    )
    assistants_blocked = models.BooleanField(
        default=False,
        db_default=False,
        verbose_name=_("closed to AI assistants"),
        help_text=_("Assistants that companies use open no tickets of this type."),
    )
    use_case = models.CharField(
        _("use case"),
        max_length=300,
        blank=True,
        db_default="",
        help_text=_("For AI assistants: when to choose this type. Empty: the description."),
    )
    assistant_notes = models.TextField(
        blank=True,
        db_default="",
        verbose_name=_("notes for AI assistants"),
        help_text=_("One per line: what to mind, and what this type is not for."),
    )

    objects = TicketTypeQuerySet.as_manager()

    class Meta:
        verbose_name = _("ticket type")
        verbose_name_plural = _("ticket types")
        ordering = ["id"]

    def __str__(self) -> str:
        return type_label(self.name)

    def clean(self) -> None:
        # Replace null, {} and "", for which validators do not run.
        self.inputs = self.inputs or []
        self.files = self.files or []
