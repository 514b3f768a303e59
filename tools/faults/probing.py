"""Requests to the service: health checks, and a ticket."""

import requests

from companies.models import Company
from companies.services import issue_token
from tools.faults.service import Service


def answers(service: Service, path: str) -> bool:
    try:
        return requests.get(address(service, path), timeout=30).ok
    except requests.RequestException:
        return False


def open_ticket(service: Service, company: Company) -> bool:
    """Open a ticket by the API; return True on success."""
    answer = requests.post(
        address(service, "/company/tickets"),
        json={"type_id": 4, "shipment_id": 99_000_001, "comments": "Where is it?"},
        headers={"Authorization": f"Bearer {issue_token(company.pk)}"},
        timeout=60,
    )
    return answer.status_code == 200


def address(service: Service, path: str) -> str:
    return f"http://127.0.0.1:{service.environment['PORT']}{path}"
