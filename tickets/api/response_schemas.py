"""Response schemas of tickets, for the description of the endpoints."""

from typing import Any

from drf_spectacular.utils import inline_serializer
from rest_framework import serializers

from core.api.shapes import Acknowledgement, Error, FlagValue, NextCursor, Time, shape
from core.files.kinds import KINDS
from tickets.models import Appeal, Document
from tickets.stated_fields import STATED_FIELDS, StatedField
from tickets.statuses import By, Status

STATUSES = [status.value for status in Status]
SLUGS = [status.slug for status in Status]
REFERENCES = ["guide", "credit", "warehouse-package", "legal-credit", ""]


class TicketCreated(serializers.Serializer[Any]):
    id = serializers.IntegerField()


class DuplicateTicket(Error):
    ticket_id = serializers.IntegerField(required=False, help_text="The existing ticket.")


class DocumentRow(serializers.Serializer[Any]):
    field_id = serializers.CharField()
    key = serializers.CharField(allow_null=True)
    type = serializers.ChoiceField(choices=Document.Type.values, allow_null=True)
    value = serializers.CharField(allow_null=True)


class NewFileRow(serializers.Serializer[Any]):
    id = serializers.IntegerField()
    name = serializers.CharField(help_text="As it is shown; not always as you sent it.")
    url = serializers.CharField(help_text="Where it can be read for an hour, without a token.")
    file_url = serializers.CharField(help_text="The same as url.")


class FileRow(NewFileRow):
    content_type = serializers.ChoiceField(choices=list(KINDS))
    size = serializers.IntegerField(help_text="In bytes, as it is kept.")
    description = serializers.CharField(allow_blank=True)
    requested_document = serializers.IntegerField(allow_null=True)
    created_at = Time()


class RequestedDocumentRow(serializers.Serializer[Any]):
    id = serializers.IntegerField()
    name = serializers.CharField()
    fulfilled = serializers.BooleanField()


class Successful(serializers.Serializer[Any]):
    success = serializers.BooleanField(help_text="Always true.")


FileCreated = shape("FileCreated", Successful, data=NewFileRow())
FilesAttached = shape("FilesAttached", Successful, data=NewFileRow(many=True))
FileList = shape("FileList", Successful, data=FileRow(many=True))


class LastComment(serializers.Serializer[Any]):
    comment_text = serializers.CharField()
    comment_type = serializers.ChoiceField(choices=["client", "admin"])
    comment_status_id = serializers.ChoiceField(choices=STATUSES)
    comment_created_at = Time()


class CommentRow(serializers.Serializer[Any]):
    id = serializers.IntegerField()
    type = serializers.ChoiceField(
        choices=["client", "admin"], help_text="`client` is you, `admin` is an agent."
    )
    status_id = serializers.ChoiceField(
        choices=STATUSES, help_text="The ticket's status at that time."
    )
    status_name = serializers.ChoiceField(choices=SLUGS)
    description = serializers.CharField()
    created_by_name = serializers.CharField()
    created_at = Time()
    utc_created_at = Time()


class TicketRating(serializers.Serializer[Any]):
    evaluated = FlagValue()
    rating = serializers.IntegerField(min_value=1, max_value=5, allow_null=True)
    comment = serializers.CharField(allow_null=True)


class TicketAmounts(serializers.Serializer[Any]):
    claimed = serializers.FloatField(allow_null=True, help_text="What you ask for.")
    offered = serializers.FloatField(
        allow_null=True, help_text="Less than `claimed` where a part is accepted."
    )
    paid = serializers.FloatField(allow_null=True)
    currency = serializers.CharField(help_text="ISO 4217, of all three.")


def stated(field: StatedField) -> serializers.Field[Any, Any, Any, Any]:
    options: dict[str, Any] = {"allow_null": True, "help_text": field.about}
    if field.choices:
        return serializers.ChoiceField(choices=field.codes, **options)
    return (serializers.CharField if field.is_text else serializers.IntegerField)(**options)


TicketRow = shape(
    "TicketRow",
    id=serializers.IntegerField(),
    company_id=serializers.IntegerField(),
    ticket_type_id=serializers.IntegerField(),
    ticket_type_name=serializers.CharField(),
    reference=serializers.ChoiceField(choices=REFERENCES),
    ticket_status_id=serializers.ChoiceField(choices=STATUSES),
    ticket_status_name=serializers.ChoiceField(choices=SLUGS),
    shipment_id=serializers.IntegerField(allow_null=True),
    tracking_number=serializers.CharField(allow_null=True),
    carrier=serializers.CharField(allow_null=True),
    **{one.name: stated(one) for one in STATED_FIELDS},
    comments=serializers.CharField(),
    data=serializers.CharField(allow_null=True, help_text="The JSON text as you sent it."),
    documents=DocumentRow(many=True),
    files=FileRow(many=True),
    file_quantity=serializers.IntegerField(),
    requested_documents=RequestedDocumentRow(
        many=True, help_text="What agents have asked for; send a file for each."
    ),
    reason_code=serializers.CharField(
        allow_null=True,
        help_text="Why it was decided so, such as `damage_confirmed` or `other`; null while it is"
        " open. New codes may come at any time.",
    ),
    amounts=TicketAmounts(allow_null=True, help_text="Null where no amount is known."),
    created_at=Time(),
    updated_at=Time(),
    utc_created_at=Time(),
    last_comment=LastComment(allow_null=True),
    allComments=CommentRow(
        many=True,
        help_text="Empty unless getComments is true: then the newest 50, and where you read one"
        " ticket the newest 200, oldest first; fewer where they are longer than 2 MiB together.",
    ),
    comments_total=serializers.IntegerField(
        required=False, help_text="Only if getComments is true: how many comments there are."
    ),
    rating=TicketRating(),
)


class TicketAppeal(serializers.Serializer[Any]):
    state = serializers.ChoiceField(choices=Appeal.State.values)
    comment = serializers.CharField()
    created_at = Time()
    decided_at = Time(allow_null=True)
    reason = serializers.CharField(allow_null=True, help_text="Why it was refused.")


TicketDetailRow = shape(
    "TicketDetailRow",
    TicketRow,
    history=inline_serializer(
        "HistoryRow",
        {
            "from": serializers.ChoiceField(
                choices=STATUSES, allow_null=True, help_text="Null where the ticket was opened."
            ),
            "to": serializers.ChoiceField(choices=STATUSES),
            "actor": serializers.ChoiceField(choices=[By.COMPANY, By.AGENT, By.SYSTEM]),
            "at": Time(),
        },
        many=True,
    ),
    claim_deadline=Time(
        required=False, help_text="Until when the carrier takes the claim, if that is known."
    ),
    appeal=TicketAppeal(allow_null=True, help_text="The latest appeal; null if there is none."),
)


class Counts(serializers.Serializer[Any]):
    active = serializers.IntegerField()
    resolved = serializers.IntegerField()


TicketList = shape(
    "TicketList",
    data=TicketRow(many=True),
    total_rows=serializers.IntegerField(),
    total_rows_exact=serializers.BooleanField(
        help_text="False beyond 10,000: `total_rows` and `counts` may be a minute old, and where"
        " nobody has counted lately they are what there is at least."
    ),
    counts=Counts(help_text="Counts of all matching tickets, whatever the status filter."),
    next_cursor=NextCursor(
        allow_null=True,
        help_text="Send it as `cursor` to get the next page; null on the last page. With"
        " `updated_since` it is never null: it goes on where this page ended.",
    ),
)


TicketDetail = shape(
    "TicketDetail",
    data=TicketDetailRow(many=True, help_text="Exactly one."),
    total_rows=serializers.IntegerField(),
)


CommentList = shape(
    "CommentList",
    data=CommentRow(many=True),
    next_cursor=NextCursor(
        allow_null=True, help_text="Send it as `cursor` to go on; null on the last page."
    ),
)


TicketRated = shape(
    "TicketRated", Acknowledgement, message=serializers.ChoiceField(choices=["Successful."])
)
