"""Data of a company that this app keeps besides its own row (companies.erasing)."""

from companies import erasing

ANSWERS = """
SELECT id FROM companies_keptanswer WHERE company_id = %(company)s
"""

BLANK_ANSWERS = {
    "kept answers": "DELETE FROM companies_keptanswer WHERE id = ANY(%(keys)s)",
}

erasing.register_erasable(
    __name__,
    erasing.Part(
        "kept answers",
        erasing.walk_of_ids(ANSWERS, 500),
        lambda keys: erasing.execute_all(BLANK_ANSWERS, keys),
    ),
)
