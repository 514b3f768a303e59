from typing import Any

from django.conf import settings
from drf_spectacular.drainage import set_override
from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from core.api.bodies import Body, Cursor, Flag, Integer, Text
from core.values.ids import ID_PATTERN, LARGEST_ID, read_id
from webhooks import targets
from webhooks.event_types import registry

A_YEAR = 365 * 86400


@extend_schema_field({"type": "string", "pattern": "^[!-~]+$"})
class AuthToken(Text):
    """Bearer token of 1 to 255 visible ASCII characters, the form in a header (decision W8)."""

    def __init__(self, **options: Any) -> None:
        super().__init__(max_length=255, **options)

    def to_internal_value(self, data: Any) -> str:
        text: str = super().to_internal_value(data)
        if not all("!" <= character <= "~" for character in text):
            raise serializers.ValidationError(
                "Send visible ASCII characters, without spaces.", code="invalid_characters"
            )
        return text


class MaxInFlight(Integer):
    """Receiver's limit of concurrent requests; null for no limit (decision N22)."""

    def __init__(self, **options: Any) -> None:
        super().__init__(
            required=False,
            allow_null=True,
            max_value=1000,
            help_text="Never send more requests at once to this webhook; null: no limit.",
            **options,
        )


class StandardHeaders(Flag):
    """Flag that adds the signature headers of Standard Webhooks to deliveries."""

    def __init__(self, **options: Any) -> None:
        super().__init__(
            required=False,
            help_text="1 adds the headers webhook-id, webhook-timestamp and webhook-signature."
            " Signed types only.",
            **options,
        )


# The part of the rules in `webhooks.targets` that does not depend on the host.
URL = r'^https{}://[^/?#@%\\\s]+([/?][!-"$-\[\]-~]*)?$'.format(
    "?" if settings.WEBHOOK_ALLOW_HTTP else ""
)


@extend_schema_field(
    {"type": "string", "format": "uri", "pattern": URL, "maxLength": targets.MAX_LENGTH}
)
class TargetURL(Text):
    """A URL that may be a webhook's target; `webhooks.targets` judges it (decision W23)."""


class RegisterWebhook(Body):
    type_id = Integer(required=False, min_value=-LARGEST_ID)
    url = TargetURL(
        allow_null=True,
        help_text="HTTPS URL that will receive the events; null: nothing is sent, and you fetch"
        " them with GET /webhooks/{webhook_id}/events.",
    )
    active = Flag(required=False, default=True, help_text="1 delivers, 0 pauses.")
    auth_token = AuthToken(
        required=False,
        default=None,
        allow_null=True,
        help_text="Sent with each delivery as Authorization: Bearer <auth_token>.",
    )
    max_in_flight = MaxInFlight(default=None)
    standard_headers = StandardHeaders(default=False)

    def get_fields(self) -> dict[str, serializers.Field[Any, Any, Any, Any]]:
        """Set the default type here: at import the apps have not registered theirs yet."""
        fields = super().get_fields()
        default = registry.default
        type_id = fields["type_id"]
        type_id.default = default.id
        # For the schema only: the service checks the id, and its error lists the valid ones.
        field_schema = {"type": "integer", "enum": [each.id for each in registry]}
        set_override(type_id, "field", field_schema)
        type_id.help_text = "The id of a webhook type."
        return fields


class QueryFlag(Flag):
    """Flag in a query string: the text "1" or "0"."""

    def to_internal_value(self, data: Any) -> bool:
        return super().to_internal_value({"0": 0, "1": 1}.get(data, data))


class ListWebhooks(Body):
    """Query parameters of the webhook list. Every value arrives as text."""

    cursor = Cursor(ID_PATTERN, help_text="The last answer's next_cursor.")
    without_url = QueryFlag(
        required=False,
        default=False,
        help_text="1 lists the webhooks without a URL, too, such as those that listen makes.",
    )

    def validate_cursor(self, text: str) -> int:
        last = read_id(text)
        if last is None:
            message = "Send the next_cursor of an answer."
            raise serializers.ValidationError(message, code="invalid_cursor")
        return last

    def get_fields(self) -> dict[str, serializers.Field[Any, Any, Any, Any]]:
        """Make the page as large as the number of webhooks that a company may have."""
        most = max(100, settings.WEBHOOKS_PER_COMPANY)
        limit = serializers.IntegerField(required=False, default=most, min_value=1, max_value=most)
        return {**super().get_fields(), "limit": limit}


class ChangeWebhook(Body):
    least_fields = 1
    url = TargetURL(
        required=False,
        allow_null=True,
        help_text="HTTPS URL; null only where the webhook has none: it keeps its kind.",
    )
    active = Flag(required=False)
    auth_token = AuthToken(required=False, allow_null=True)
    max_in_flight = MaxInFlight()
    standard_headers = StandardHeaders()

    def validate(self, body: dict[str, Any]) -> dict[str, Any]:
        if not body:
            *names, last = self.fields
            raise serializers.ValidationError(
                f"Send at least one of {', '.join(names)} and {last}.", code="required"
            )
        return body


class RotateSecret(Body):
    activates_in = Integer(
        required=False,
        default=86400,
        min_value=0,
        max_value=A_YEAR,
        help_text="Seconds until the new secret signs. The old one signs until then.",
    )
