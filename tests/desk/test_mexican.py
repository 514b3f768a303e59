"""Numbers in the Spanish of Mexico: a point before decimals, commas between thousands."""

from decimal import Decimal

import pytest
from django.utils import translation

from companies.money import money_text
from desk.reports.report_cells import share_cell


@pytest.mark.parametrize("language", ["es", "en"])
def test_money_and_shares(language: str) -> None:
    with translation.override(language):
        assert money_text(Decimal("4850.5"), "MXN") == "4,850.50 MXN"
        assert money_text(Decimal(5800), "JPY") == "5,800 JPY"
        assert share_cell(384, 1000).text == "38.4 %"
