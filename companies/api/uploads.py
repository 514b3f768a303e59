"""Requests that bring a file: JSON with the content in base64, or a form (decision N8)."""

import binascii
from base64 import b64decode
from io import BytesIO
from typing import IO, Any, NamedTuple, cast

from django.conf import settings
from django.core.exceptions import RequestDataTooBig, SuspiciousOperation
from django.core.files.uploadhandler import MemoryFileUploadHandler
from django.http.multipartparser import MultiPartParser, MultiPartParserError
from django.utils.datastructures import MultiValueDict
from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers
from rest_framework.exceptions import ErrorDetail, ParseError, ValidationError

from companies.api.requests import CompanyRequest
from core.api.bodies import UNKNOWN_FIELD, Body, Integer, Text, WrongField
from core.api.negotiation import check_content
from core.api.parsers import BodyTooLarge, parse_json
from core.values.ids import LARGEST_ID

TYPES = ("application/json", "multipart/form-data")
SEND_THESE = f"Send {' or '.join(TYPES)}, not compressed."
LONGEST_SENT_NAME = 1000
LONGEST_DESCRIPTION = 2000
SPACE = dict.fromkeys(map(ord, " \t\r\n"))


# Four characters for three bytes, at least one byte, and white space anywhere.
BASE64 = "^{s}({c}{{4}})*({c}{{4}}|{c}{{2}}(={s}){{2}}|{c}{{3}}={s})$".format(
    s=r"[ \t\r\n]*", c=r"([A-Za-z0-9+/][ \t\r\n]*)"
)


@extend_schema_field({"type": "string", "contentEncoding": "base64", "pattern": BASE64})
class Base64Text(serializers.CharField):
    """Base64 content of a file; line breaks in it do no harm. `content_of` decodes it."""

    default_error_messages = {"invalid": "Send a string."}

    def __init__(self, **options: Any) -> None:
        super().__init__(trim_whitespace=False, **options)

    def run_validation(self, data: Any = serializers.empty) -> Any:
        """Let an empty text through, which is refused later as an empty file."""
        return data if data == "" else super().run_validation(data)

    def to_internal_value(self, data: Any) -> Any:
        if not isinstance(data, str):
            self.fail("invalid")
        return data


AN_ID = {"type": "integer", "minimum": 1, "maximum": LARGEST_ID}


@extend_schema_field({"oneOf": [AN_ID, {"type": "string"}]})
class IdOrName(Text):
    """An id as an integer, or a name."""

    default_error_messages = {"invalid": "Send an id or a name."}

    def to_internal_value(self, data: Any) -> Any:
        if type(data) is int:
            return Integer().run_validation(data)
        return super().to_internal_value(data)


class FileFields(Body):
    """Fields that describe a company's file."""

    description = Text(required=False, default="", allow_blank=True, max_length=LONGEST_DESCRIPTION)
    requested_document: Any = IdOrName(
        required=False,
        default=None,
        allow_null=True,
        help_text="The id or the exact name of a document that was requested on the ticket.",
    )
    company_id = Integer(required=False, help_text="Your own, if you send it.")
    content_type = Text(
        required=False, max_length=255, help_text="Taken and ignored: the content decides."
    )

    def validate_company_id(self, value: int) -> int:
        if value != self.context["company_id"]:
            raise ValidationError("This is not your company's id.", code="not_your_company")
        return value


class FileBody(FileFields):
    name = Text(max_length=LONGEST_SENT_NAME)
    content_base64 = Base64Text()


class FileForm(FileFields):
    name = Text(
        required=False, max_length=LONGEST_SENT_NAME, help_text="Default: the name of the file."
    )


class FileFormShape(FileForm):
    """The form as it is documented; its file is read apart from its fields."""

    file: Any = serializers.FileField(help_text="JPEG, PNG, WebP or PDF, at most 10 MiB.")


class Upload(NamedTuple):
    """An uploaded file and its description."""

    name: str
    content: bytes
    description: str
    requested_document: int | str | None


class InMemory(MemoryFileUploadHandler):
    """Upload handler that keeps every file in memory, as the body is there already."""

    def handle_raw_input(
        self,
        input_data: IO[bytes],
        META: dict[str, str],
        content_length: int,
        boundary: str,
        encoding: str | None = None,
    ) -> None:
        self.activated = True


class UploadTooLarge(BodyTooLarge):
    default_detail = f"The body is larger than {settings.MAX_UPLOAD_BYTES // 1024**2} MiB."


def take_body(request: CompanyRequest) -> None:
    """Read the whole body, which is thereby bounded. Raises UploadTooLarge (413)."""
    if int(request.META.get("CONTENT_LENGTH") or 0) > settings.MAX_UPLOAD_BYTES:
        raise UploadTooLarge
    try:
        body = request._request.read(settings.MAX_UPLOAD_BYTES + 1)
    except RequestDataTooBig as error:
        raise UploadTooLarge from error
    if len(body) > settings.MAX_UPLOAD_BYTES:
        raise UploadTooLarge
    request.whole_body = body


def read_upload(request: CompanyRequest) -> Upload:
    """Return the file of a request whose body `take_body` has read.

    Raises ParseError and ValidationError (400), UnsupportedContent (415) and FileRefused.
    """
    media_type, _ = check_content(request, TYPES, SEND_THESE)
    return read_json(request) if media_type == "application/json" else read_form(request)


def read_json(request: CompanyRequest) -> Upload:
    values = validated(FileBody, parse_json(request.whole_body or b""), request)
    return Upload(
        values["name"],
        content_of(values["content_base64"]),
        values["description"],
        values["requested_document"],
    )


def content_of(text: str) -> bytes:
    """Decode base64. Raises ValidationError."""
    try:
        return b64decode(text.translate(SPACE).encode("ascii"), validate=True)
    except (UnicodeEncodeError, binascii.Error) as error:
        message = "This is not valid base64: send A-Z, a-z, 0-9, + and /, with = at the end."
        raise WrongField("content_base64", message, code="invalid_encoding") from error


def read_form(request: CompanyRequest) -> Upload:
    body = request.whole_body or b""
    # The length of the body that was read, whatever the header says.
    meta = {**request.META, "CONTENT_LENGTH": str(len(body))}
    try:
        parser = MultiPartParser(meta, BytesIO(body), [InMemory()], "utf-8")
        fields, files = parser.parse()
    except (MultiPartParserError, SuspiciousOperation) as error:
        raise ParseError(f"The form cannot be read: {error}", code="invalid_form") from error
    values = validated(FileForm, form_values(fields, files), request)
    file: Any = files["file"]
    return Upload(
        values.get("name") or file.name or "",
        file.read(),
        values["description"],
        values["requested_document"],
    )


def form_values(
    fields: MultiValueDict[str, str], files: MultiValueDict[str, Any]
) -> dict[str, Any]:
    """Return the fields of a form as a JSON body has them. Raises ValidationError."""
    wrong = {
        name: [ErrorDetail("Send it once.", code="given_twice")]
        for name in fields
        if len(fields.getlist(name)) > 1 and name != "file"
    }
    wrong |= {name: [UNKNOWN_FIELD] for name in files if name != "file"}
    if len(files.getlist("file")) != 1 or "file" in fields:
        message = "Send exactly one file, with its name, in the field file."
        wrong["file"] = [ErrorDetail(message, code="not_one_file")]
    if wrong:
        raise ValidationError(wrong)
    values: dict[str, Any] = {name: fields[name] for name in fields}
    number = values.get("company_id", "")
    if number.isascii() and number.isdecimal() and len(number) < 20:
        values["company_id"] = int(number)
    return values


def validated(shape: type[Body], data: Any, request: CompanyRequest) -> dict[str, Any]:
    body = shape(data=data, context={"company_id": request.company.pk})
    body.is_valid(raise_exception=True)
    return cast(dict[str, Any], body.validated_data)
