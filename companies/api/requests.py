"""The request that views for companies get."""

from typing import cast

from rest_framework.request import Request

from companies.models import ApiToken, Company


class CompanyRequest(Request):
    """A request with a company's API token."""

    # Set by CompanyRate, sent with every response.
    rate_headers: dict[str, str]
    # The body, if a view has read more of it than others may (companies.api.uploads).
    whole_body: bytes | None = None

    @property
    def token(self) -> ApiToken:
        return cast(ApiToken, self.auth)

    @property
    def company(self) -> Company:
        """The company of the token; authentication rejects requests without one."""
        return cast(Company, self.user)
