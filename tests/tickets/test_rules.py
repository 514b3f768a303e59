import pytest

from tickets import rules

# Reference, required, given fields, and the field that is missing (decision T14).
DEMANDS = [
    ("guide", True, {}, "shipment_id"),
    ("guide", True, {"shipment_id": None}, "shipment_id"),
    ("guide", True, {"credit_id": 5}, "shipment_id"),
    ("guide", True, {"shipment_id": 5}, None),
    ("guide", False, {}, None),
    ("credit", True, {"shipment_id": 5}, "credit_id"),
    ("credit", True, {"credit_id": 5}, None),
    ("warehouse-package", True, {"warehouse_package_id": ""}, "warehouse_package_id"),
    ("warehouse-package", True, {"warehouse_package_id": "Acme Ltd"}, None),
    ("warehouse-package", False, {}, None),
    ("legal-credit", True, {"documents": []}, "documents"),
    ("legal-credit", True, {"documents": [{"field_id": "rfc"}]}, None),
    ("", True, {}, None),
    ("", False, {}, None),
]
# Type and value of a document, and its error (decision T16).
VALUES = [
    ("date", "2026-02-28", None),
    ("date", None, None),
    ("date", "2026-02-29", "date"),
    ("date", "2026-2-28", "date"),
    ("date", "20260228", "date"),
    ("date", "2026-W09-6", "date"),
    ("date", "2026-02-28T10:00:00", "date"),
    ("date", "٢٠٢٦-٠٢-٢٨", "date"),
    ("date", "2026-02-28\n", "date"),
    ("date", "9999999-01-01", "date"),
    ("date", "yesterday", "date"),
    ("date", "", "date"),
    ("file", "https://files.example.com/a b".replace(" ", "%20"), None),
    ("file", "http://files.example.com", None),
    ("file", "HTTPS://files.example.com/id.pdf?x=1#y", None),
    ("file", "http://169.254.169.254/latest/", None),
    ("file", None, None),
    ("file", "javascript:alert(1)", "URL"),
    ("file", "vbscript:msgbox(1)", "URL"),
    ("file", "data:text/html,x", "URL"),
    ("file", "ftp://files.example.com/id.pdf", "URL"),
    ("file", "//files.example.com/id.pdf", "URL"),
    ("file", "files.example.com/id.pdf", "URL"),
    ("file", "https://", "URL"),
    ("file", "https:///id.pdf", "URL"),
    ("file", "https://files.example.com\\@evil.example", "URL"),
    ("file", " https://files.example.com", "URL"),
    ("file", "https://files.example.com/\nid", "URL"),
    ("file", "https://[::1", "URL"),
    ("file", "", "URL"),
    ("input", "", None),
    ("input", "javascript:alert(1)", None),
    (None, "yesterday", None),
]


@pytest.mark.parametrize(("reference", "required", "fields", "lacking"), DEMANDS)
def test_knows_what_a_type_demands(
    reference: str, required: bool, fields: dict[str, object], lacking: str | None
) -> None:
    assert rules.missing_field(reference, required, fields) == lacking


@pytest.mark.parametrize(("type", "value", "problem"), VALUES)
def test_checks_the_value_of_a_document(
    type: str | None, value: str | None, problem: str | None
) -> None:
    answer = rules.wrong_value(type, value)

    assert (answer is None) == (problem is None)
    assert problem is None or problem in answer.message
