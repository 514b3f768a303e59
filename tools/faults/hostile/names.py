"""Attacks of `tools/faults/run hostile`, in the order of play."""

COMPANY_ATTACKS = {
    "test-sends": "test sends to a URL that never answers",
    "slow-bodies": "bodies that are slow to parse",
    "registrations": "ten thousand registrations",
    "redelivery-loop": "the same delivery is asked for again and again",
    "answers-410": "receivers that answer 410 and are resumed, again and again",
    "answers-429": "receivers that always answer 429",
    "redirects": "receivers that redirect to themselves",
    "backlog": "a backlog that nobody takes",
    "one-receiver": "two hundred webhooks on one receiver",
    "drip-answers": "receivers that answer 16 KiB a second",
    "deep-pages": "parallel requests for the deepest page of a long list",
    "drip-uploads": "uploads that drip",
}
STRANGER_ATTACKS = {
    "slow-headers": "headers a byte at a time",
    "drip-bodies": "bodies a byte at a time, without a token",
    "idle-connections": "a thousand connections that say nothing",
    "wrong-tokens": "ten thousand wrong tokens a minute",
    "wrong-passwords": "ten thousand wrong passwords a minute",
}
