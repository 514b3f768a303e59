"""The shipping endpoints: /ship/generaltrack/ and /ship/webhooktest/."""
