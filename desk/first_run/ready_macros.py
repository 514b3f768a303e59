"""Twelve ready-made macros in English; the catalogues have their translations."""

from typing import NamedTuple

from django.utils.translation import gettext, gettext_noop

from core.values.languages import sentence_in
from tickets.statuses import AGENT_MOVES, Status

# Target statuses by the key that an agent presses.
MOVES = {move.key: to for to, move in AGENT_MOVES.items()}


class ReadyMacro(NamedTuple):
    """Ready-made macro in English: name, text and requested documents."""

    slug: str
    name: str
    text: str
    documents: tuple[str, ...] = ()
    move_to: Status | None = None
    # Ids of ticket types; empty means all.
    types: tuple[int, ...] = ()
    # Reason code, if the macro decides the ticket.
    code: str = ""

    @property
    def title(self) -> str:
        return gettext(self.name)

    def translated(self, language: str) -> "ReadyMacro | None":
        """Return the macro in a language; None if its name or text has no translation."""
        name, text = sentence_in(language, self.name), sentence_in(language, self.text)
        # A document's name without a translation may be the same word in both languages.
        documents = tuple(sentence_in(language, one) or one for one in self.documents)
        return self._replace(name=name, text=text, documents=documents) if name and text else None


READY_MACROS = (
    ReadyMacro(
        "damage",
        gettext_noop("Damaged: ask for photos and invoice"),
        gettext_noop(
            "Hello {company},\n\nto claim the damage to {tracking} from the carrier, we need"
            " photos of the damage and of the packaging, and the invoice. Please keep the"
            " packaging until the claim is decided.\n\n{agent}"
        ),
        documents=(
            gettext_noop("Photo of the damage"),
            gettext_noop("Photo of the packaging"),
            gettext_noop("Invoice"),
        ),
        move_to=MOVES["i"],
        types=(5,),
    ),
    ReadyMacro(
        "lost",
        gettext_noop("Lost: ask for invoice and contents"),
        gettext_noop(
            "Hello {company},\n\nto claim the loss of {tracking} from the carrier, we need the"
            " invoice with the value and a description of the contents.\n\n{agent}"
        ),
        documents=(
            gettext_noop("Invoice"),
            gettext_noop("Description of the contents"),
        ),
        move_to=MOVES["i"],
        types=(4,),
    ),
    ReadyMacro(
        "theft",
        gettext_noop("Stolen: ask for police report and invoice"),
        gettext_noop(
            "Hello {company},\n\nto claim the theft of {tracking} from the carrier, we need the"
            " police report and the invoice with the value.\n\n{agent}"
        ),
        documents=(
            gettext_noop("Police report"),
            gettext_noop("Invoice"),
        ),
        move_to=MOVES["i"],
        types=(13,),
    ),
    ReadyMacro(
        "weight",
        gettext_noop("Overweight: ask for weight and size"),
        gettext_noop(
            "Hello {company},\n\nto have the charge for {tracking} checked, we need a photo of the"
            " parcel on a scale and one that shows its measurements.\n\n{agent}"
        ),
        documents=(
            gettext_noop("Photo on the scale"),
            gettext_noop("Photo with the measurements"),
        ),
        move_to=MOVES["i"],
        types=(3,),
    ),
    ReadyMacro(
        "address",
        gettext_noop("Ask for the full address"),
        gettext_noop(
            "Hello {company},\n\nplease send us the full address for {tracking}: street, number,"
            " postal code, city, and a phone number of the recipient.\n\n{agent}"
        ),
        move_to=MOVES["i"],
        types=(6, 14, 25),
    ),
    ReadyMacro(
        "carrier_asked",
        gettext_noop("We have asked the carrier"),
        gettext_noop(
            "Hello {company},\n\nwe have asked the carrier about {tracking} and will write to you"
            " as soon as there is an answer. There is nothing that you have to do.\n\n{agent}"
        ),
        types=(3, 4, 5, 6, 8, 13, 14, 25),
    ),
    ReadyMacro(
        "received",
        gettext_noop("We have what we need"),
        gettext_noop(
            "Hello {company},\n\nthank you, we have everything that we need for ticket {ticket}"
            " and are looking at it.\n\n{agent}"
        ),
    ),
    ReadyMacro(
        "claim_accepted",
        gettext_noop("Accept: the claim"),
        gettext_noop("Hello {company},\n\nyour claim for {tracking} is accepted.\n\n{agent}"),
        move_to=MOVES["a"],
        types=(4, 5, 13),
        code="carrier_liable",
    ),
    ReadyMacro(
        "charge_corrected",
        gettext_noop("Accept: the charge was wrong"),
        gettext_noop(
            "Hello {company},\n\nyou are right: the charge for {tracking} was wrong and is"
            " corrected.\n\n{agent}"
        ),
        move_to=MOVES["a"],
        types=(3,),
        code="charge_wrong",
    ),
    ReadyMacro(
        "evidence_missing",
        gettext_noop("Decline: evidence is missing"),
        gettext_noop(
            "Hello {company},\n\nwe cannot accept ticket {ticket}, because the documents that we"
            " asked for did not come. If you have them, you can appeal the decision.\n\n{agent}"
        ),
        move_to=MOVES["d"],
        code="evidence_missing",
    ),
    ReadyMacro(
        "too_late",
        gettext_noop("Decline: claimed too late"),
        gettext_noop(
            "Hello {company},\n\nthe carrier no longer accepts a claim for {tracking}: its"
            " deadline had passed when the ticket was opened.\n\n{agent}"
        ),
        move_to=MOVES["d"],
        types=(4, 5, 13),
        code="claimed_late",
    ),
    ReadyMacro(
        "delivered",
        gettext_noop("Decline: delivered as agreed"),
        gettext_noop(
            "Hello {company},\n\nthe carrier has proved that {tracking} was delivered as agreed."
            "\n\n{agent}"
        ),
        move_to=MOVES["d"],
        types=(4, 6, 8, 25),
        code="delivered",
    ),
)
