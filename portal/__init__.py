"""Company's page: tickets and webhooks for people of a company, without programs (decision N31)."""
