#!/usr/bin/env python
"""Django's entry point for operators' commands."""

import os
import sys

from django.conf import settings
from django.core.exceptions import ImproperlyConfigured
from django.core.management.base import CommandError

from config import first_env_file
from config.command_settings import Commands
from core.data.database_words import database_in_words
from core.measures import sums
from core.watch import request_ids

if __name__ == "__main__":
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    if sys.argv[1:2] == ["doctor"] and "--init" in sys.argv:
        first_env_file.prepare_first_start()
    try:
        # Load the settings now, so that an invalid variable is reported in one line.
        _ = settings.INSTALLED_APPS
    except ImproperlyConfigured as error:
        sys.exit(f"Not run. Change this setting:\n- {error}")
    # A command's rows and log lines carry an id, like a request's.
    request_ids.begin_request()
    try:
        with database_in_words():
            Commands(sys.argv).execute()
    except CommandError as error:
        sys.exit(f"CommandError: {error}")
    finally:
        sums.write_sums()
