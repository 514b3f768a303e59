"""A request that a company's API token came with."""

from typing import cast

from rest_framework.request import Request

from companies.models import ApiToken, Company


class CompanyRequest(Request):
    """What every view for companies gets."""

    # Set where requests are counted, sent with every answer.
    rate_headers: dict[str, str]

    @property
    def token(self) -> ApiToken:
        return cast(ApiToken, self.auth)

    @property
    def company(self) -> Company:
        """Whose token it is; authentication has let nobody else in."""
        return cast(Company, self.user)
