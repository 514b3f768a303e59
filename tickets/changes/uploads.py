"""Files that people upload with a form: examined and stored before anything is written."""

import hashlib
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from typing import Any

from django.conf import settings
from django.core.files.uploadedfile import UploadedFile
from django.utils.translation import gettext

from core.files.examining import examine_file
from core.files.kinds import check_size, display_name, media_type_of
from core.files.refusals import RETRY_LATER, FileRefused
from core.files.scanning import scan
from tickets.changes.agent_files import MOST_AT_ONCE
from tickets.changes.files import NewFile, store_content

# The other fields of a form take less than 512 KiB.
MOST_FORM_BYTES = settings.MAX_UPLOAD_BYTES - 512 * 1024
# Agents share the examiner slots of a single company, so companies always have some left.
NO_COMPANY = 0


@contextmanager
def stored_uploads(
    uploads: "Sequence[UploadedFile[Any]]", company_id: int = NO_COMPANY
) -> Iterator[list[NewFile]]:
    """Check and store files of a form; files left without a row are removed.

    `company_id` is the company whose people send them. Opens no transaction. Raises FileRefused,
    which names every refused file.
    """
    if len(uploads) > MOST_AT_ONCE:
        text = gettext("Attach at most %(most)d files at a time.") % {"most": MOST_AT_ONCE}
        raise FileRefused(text, code="too_many_files")
    with ExitStack() as stack:
        new_files: list[NewFile] = []
        refusals: list[FileRefused] = []
        for upload in uploads:
            try:
                new_files.append(store_upload(stack, upload, company_id))
            except FileRefused as refusal:
                if refusal.code in RETRY_LATER:
                    raise
                refusals.append(refusal)
        if refusals:
            text = "\n".join(str(refusal) for refusal in refusals)
            raise FileRefused(text, code=refusals[0].code)
        yield new_files


def store_upload(stack: ExitStack, upload: "UploadedFile[Any]", company_id: int) -> NewFile:
    file_name = upload.name or ""
    try:
        check_size(upload.size or 0)
        raw = upload.read()
        media_type = media_type_of(raw)
        name = display_name(file_name, media_type)
        content, active = examine_file(raw, media_type, company_id)
        scan(name, content)
    except FileRefused as error:
        raise FileRefused(f"{file_name}: {error}", code=error.code) from error
    return NewFile(
        name=name,
        description="",
        media_type=media_type,
        size=len(content),
        sha256=hashlib.sha256(content).hexdigest(),
        active=active,
        stored_as=stack.enter_context(store_content(content)),
    )
