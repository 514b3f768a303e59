"""Storage and scanner of companies' files."""

import json
import os

from config.settings.base import DATA_DIR, env

FILES_DIR = env.str("FILES_DIR", default=os.path.join(DATA_DIR, "files"))
FILE_STORAGE = env.str("FILE_STORAGE", default="django.core.files.storage.FileSystemStorage")
# Web and worker, which run as one user, are the only readers.
ON_DISK = {
    "location": FILES_DIR,
    "file_permissions_mode": 0o640,
    "directory_permissions_mode": 0o750,
}
STORAGES = {
    "default": {
        "BACKEND": FILE_STORAGE,
        "OPTIONS": env.read(
            "FILE_STORAGE_OPTIONS",
            json.loads,
            ON_DISK if FILE_STORAGE.endswith(".FileSystemStorage") else {},
            "a JSON object",
        ),
    },
    "staticfiles": {"BACKEND": "config.static_files.HashedAddresses"},
}
# Path of a function (name, file) -> its finding, or "".
FILE_SCANNER = env.str("FILE_SCANNER", default="")
