from typing import Any

from rest_framework.test import APIClient

PATH = "/ship/webhooktest/"


def tried(api: APIClient, url: str, number: str = "TEST0000005") -> dict[str, Any]:
    answer = api.post(PATH, {"tracking_number": number, "webhook_url": url})
    assert answer.status_code == 200
    assert answer.json()["meta"] == "webhooktest"
    return answer.json()["data"]
