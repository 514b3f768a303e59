"""The tests' settings of a Spanish deployment, with Esperanto as a further language."""

import os

os.environ["LANGUAGE_CODE"] = "es"

from django.conf.locale import LANG_INFO
from django.utils.translation import gettext_lazy

from tests.settings import *  # noqa: F403
from tests.settings import DATABASES, LANGUAGES, LOCALE_PATHS

# Django supports it, and no desk will.
CODE = "eo"
LANGUAGES = [*LANGUAGES, (CODE, gettext_lazy(LANG_INFO[CODE]["name"]))]
LOCALE_PATHS = [os.environ["FURTHER_LOCALE"], *LOCALE_PATHS]
DATABASES["default"]["TEST"] = {"NAME": f"test_further_language_{os.getpid()}"}
