"""Which URLs may be targets, whose webhook it is, and what becomes of its secrets."""

from faults.broken import Mutant

ADDRESSES = "webhooks/addresses.py"
ENVELOPE = "webhooks/envelope.py"
MODELS = "webhooks/models.py"
READING = "webhooks/api/serializers.py"
SERVICES = "webhooks/services.py"
TARGETS = "webhooks/targets.py"
VIEWS = "webhooks/api/views.py"

WEBHOOKS = (
    Mutant(
        "webhooks-of-every-company",
        VIEWS,
        'request.company.webhooks.present().filter(pk__gt=cursor).order_by("pk")',
        'Webhook.objects.present().filter(pk__gt=cursor).order_by("pk")',
        "A company reads everybody's URLs.",
    ),
    Mutant(
        "webhook-of-another-company",
        VIEWS,
        "webhook = get_object_or_404(request.company.webhooks.present(), pk=webhook_id)",
        "webhook = get_object_or_404(Webhook.objects.present(), pk=webhook_id)",
        "Whoever guesses an id reads another company's webhook.",
    ),
    Mutant(
        "changes-anothers-webhook",
        SERVICES,
        "        company.webhooks.present().select_for_update(no_key=True)",
        "        Webhook.objects.present().select_for_update(no_key=True)",
        "A company deletes another's webhook.",
    ),
    Mutant(
        "changes-what-is-deleted",
        SERVICES,
        "        company.webhooks.present().select_for_update(no_key=True)",
        "        company.webhooks.select_for_update(no_key=True)",
        "A deleted webhook is made active again.",
    ),
    Mutant(
        "deleted-is-present",
        MODELS,
        "return self.filter(deleted_at=None)",
        "return self.filter()",
        "What was deleted still gets events.",
    ),
    Mutant(
        "token-is-shown",
        VIEWS,
        'f"…{token[-4:]}" if token else None',
        "token",
        "Whoever reads the list has the delivery token.",
    ),
    Mutant(
        "secret-is-shown",
        VIEWS,
        '        "auth_token": masked_token(webhook),\n',
        '        "auth_token": masked_token(webhook),\n        "secret": webhook.secret,\n',
        "Whoever reads the list can sign.",
    ),
    Mutant(
        "every-type-has-a-secret",
        SERVICES,
        "secret=make_secret() if event_type.signed else None",
        "secret=make_secret()",
        "Companies verify what is not signed.",
    ),
    Mutant(
        "short-secrets",
        SERVICES,
        "return secrets.token_hex(32)",
        "return secrets.token_hex(8)",
        "Signatures can be forged.",
    ),
    Mutant(
        "registers-any-url",
        SERVICES,
        "        targets.check_target(url, target_policy.current_policy())\n",
        "        pass\n",
        "A company has us ask our own machines.",
    ),
    Mutant(
        "changes-to-any-url",
        SERVICES,
        "    targets.check_target(url, target_policy.current_policy())\n    if url != webhook.url",
        "    if url != webhook.url",
        "A company has us ask our own machines.",
    ),
    Mutant(
        "pause-overwrites-the-reason",
        SERVICES,
        ".filter(pk=webhook_id, active=True)",
        ".filter(pk=webhook_id)",
        "Why a webhook was paused is forgotten.",
    ),
    Mutant(
        "reason-outlives-the-pause",
        SERVICES,
        '"paused_reason": "", **resumed',
        "**resumed",
        "A webhook that works says why it does not.",
    ),
    Mutant(
        "five-days-go-on",
        SERVICES,
        '{} if webhook.active else {"resumed_at": timezone.now()}',
        "{}",
        "What was resumed is paused again at once.",
    ),
    Mutant(
        "rotation-forgets-the-newest",
        SERVICES,
        "    webhook.secret = webhook.signing_secret(now)\n",
        "",
        "After a second rotation a secret signs that the company has thrown away.",
    ),
    Mutant(
        "rotates-at-once",
        SERVICES,
        "webhook.next_secret_at = now + activates_in",
        "webhook.next_secret_at = now",
        "Signatures are wrong until the company has changed its secret.",
    ),
    Mutant(
        "next-secret-never-signs",
        MODELS,
        "self.next_secret_at is not None and self.next_secret_at <= now",
        "self.next_secret_at is not None and self.next_secret_at == now",
        "After a rotation every signature is wrong.",
    ),
    Mutant(
        "plain-http",
        TARGETS,
        'if scheme not in DEFAULT_PORTS or (scheme == "http" and not policy.allow_http):',
        "if scheme not in DEFAULT_PORTS:",
        "Events go out in clear.",
    ),
    Mutant(
        "any-address",
        TARGETS,
        "if address is not None and (reason := policy.why_forbidden(address)):",
        "if address is not None and (reason := None):",
        "A company has us ask our own machines.",
    ),
    Mutant(
        "any-port",
        TARGETS,
        "and port not in policy.ports:",
        "and port < 0:",
        "A company has us scan ports.",
    ),
    Mutant(
        "names-of-clusters",
        TARGETS,
        "labels[-1] in SPECIAL_NAMES or ",
        "",
        "A company has us ask names of our own network.",
    ),
    Mutant(
        "below-the-metadata-name",
        TARGETS,
        'name == each or name.endswith(f".{each}")',
        "name == each",
        "A company has us ask for the credentials of a machine.",
    ),
    Mutant(
        "metadata-address",
        ADDRESSES,
        '        "169.254.0.0/16": "link-local",\n',
        "",
        "A company has us ask for the credentials of a machine.",
    ),
    Mutant(
        "carrier-grade-nat",
        ADDRESSES,
        '        "100.64.0.0/10": "carrier-grade NAT",\n',
        "",
        "A company has us ask the inside of a cloud.",
    ),
    Mutant(
        "any-ipv6",
        ADDRESSES,
        "if isinstance(parsed, IPv6Address) and parsed not in GLOBAL_IPV6:",
        "if isinstance(parsed, IPv6Address) and parsed.is_loopback:",
        "A company has us ask addresses inside an IPv6 one.",
    ),
    Mutant(
        "scoped-addresses",
        ADDRESSES,
        "if isinstance(parsed, IPv6Address) and parsed.scope_id is not None:",
        "if isinstance(parsed, IPv6Address) and parsed.scope_id == '':",
        "A company chooses the interface that we ask through.",
    ),
    Mutant(
        "token-with-a-space",
        READING,
        '"!" <= character <= "~"',
        '" " <= character <= "~"',
        "A header is sent that receivers read differently.",
    ),
    Mutant(
        "ten-thousand-at-once",
        READING,
        "max_value=1000,",
        "max_value=10_000,",
        "The limit is another than the documents say.",
    ),
    Mutant(
        "facts-of-tomorrow",
        ENVELOPE,
        "time = min(occurred_at, now)",
        "time = occurred_at",
        "An event is from the future.",
    ),
    Mutant(
        "two-at-one-time",
        ENVELOPE,
        "time > last else",
        "time >= last else",
        "Of two events of a shipment nobody knows which was first.",
    ),
)
