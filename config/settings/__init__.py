"""Django's settings. Only this folder reads environment variables (docs/operating.md)."""

# Default formats for languages that neither config/formats nor Django has; Django's are American.
from config.formats.en.formats import *
from config.settings.api import *
from config.settings.base import *
from config.settings.files import *
from config.settings.logs import *
from config.settings.mail import *
from config.settings.people import *
from config.settings.portal import *
from config.settings.retention import *
from config.settings.security import *
from config.settings.tickets import *
from config.settings.webhooks import *
