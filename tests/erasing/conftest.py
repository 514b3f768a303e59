from pathlib import Path

import pytest
from pytest_django import Settings


@pytest.fixture(autouse=True)
def disk(settings: Settings, tmp_path: Path) -> Path:
    backend = "django.core.files.storage.FileSystemStorage"
    own = {"BACKEND": backend, "OPTIONS": {"location": str(tmp_path)}}
    settings.STORAGES = {**settings.STORAGES, "default": own}
    return tmp_path
