"""The deployment's own scanner, if it has one (setting FILE_SCANNER)."""

import logging
from io import BytesIO

from django.conf import settings
from django.utils.module_loading import import_string
from django.utils.translation import gettext, gettext_noop

from core.files.refusals import FileRefused

logger = logging.getLogger(__name__)

NOT_SCANNED = gettext_noop("Files cannot be checked at the moment. Try again in a minute.")
HARMFUL = gettext_noop("The file was refused by our virus scanner.")


def scan(name: str, content: bytes) -> None:
    """Have the scanner check a file that nobody has been shown yet. Raises FileRefused.

    The scanner is a function `(name, file) -> verdict`: nothing where the file is harmless, else
    what was found, which is logged and not shown to anybody. One that fails lets nothing pass.
    """
    if not settings.FILE_SCANNER:
        return
    try:
        verdict = import_string(settings.FILE_SCANNER)(name, BytesIO(content))
    except Exception as error:
        logger.exception("the file scanner failed")
        raise FileRefused(gettext(NOT_SCANNED), code="scanner_unavailable") from error
    if verdict:
        logger.warning("the file scanner refused a file: %s", verdict)
        raise FileRefused(gettext(HARMFUL), code="file_harmful")
