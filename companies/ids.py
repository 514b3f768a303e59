"""The range of ids in requests: integers from 1 to LARGEST_ID. Pure."""

# PostgreSQL's bigint.
LARGEST_ID = 2**63 - 1
