"""Twelve macros that are ready to be used, in English and Spanish."""

from typing import NamedTuple

from django.utils.translation import get_language

from tickets.statuses import AGENT_MOVES, Status

# By the key that an agent presses.
MOVES = {move.key: to for to, move in AGENT_MOVES.items()}


class Wording(NamedTuple):
    """A macro in one language: its name, its text, and the documents it asks for."""

    name: str
    text: str
    documents: tuple[str, ...] = ()


class ReadyMacro(NamedTuple):
    slug: str
    en: Wording
    es: Wording
    move_to: Status | None = None
    # Ids of ticket types; none means all.
    types: tuple[int, ...] = ()
    # The reason code, for a macro that decides.
    code: str = ""

    @property
    def title(self) -> str:
        return (self.es if get_language() == "es" else self.en).name


# Each in itself, as in the menu of languages.
LANGUAGES = (("en", "English"), ("es", "Español"))

READY = (
    ReadyMacro(
        "damage",
        Wording(
            "Damaged: ask for photos and invoice",
            "Hello {company},\n\nto claim the damage to {tracking} from the carrier, we need photos"
            " of the damage and of the packaging, and the invoice. Please keep the packaging until"
            " the claim is decided.\n\n{agent}",
            ("Photo of the damage", "Photo of the packaging", "Invoice"),
        ),
        Wording(
            "Dañado: pedir fotos y factura",
            "Hola, {company}:\n\nPara reclamar a la paquetería el daño de {tracking} necesitamos"
            " fotos del daño y del empaque, y la factura. Por favor, conserve el empaque hasta"
            " que se decida el reclamo.\n\n{agent}",
            ("Foto del daño", "Foto del empaque", "Factura"),
        ),
        MOVES["i"],
        (5,),
    ),
    ReadyMacro(
        "lost",
        Wording(
            "Lost: ask for invoice and contents",
            "Hello {company},\n\nto claim the loss of {tracking} from the carrier, we need the"
            " invoice with the value and a description of the contents.\n\n{agent}",
            ("Invoice", "Description of the contents"),
        ),
        Wording(
            "Extraviado: pedir factura y contenido",
            "Hola, {company}:\n\nPara reclamar a la paquetería la pérdida de {tracking} necesitamos"
            " la factura con el valor y una descripción del contenido.\n\n{agent}",
            ("Factura", "Descripción del contenido"),
        ),
        MOVES["i"],
        (4,),
    ),
    ReadyMacro(
        "theft",
        Wording(
            "Stolen: ask for police report and invoice",
            "Hello {company},\n\nto claim the theft of {tracking} from the carrier, we need the"
            " police report and the invoice with the value.\n\n{agent}",
            ("Police report", "Invoice"),
        ),
        Wording(
            "Robado: pedir acta del MP y factura",
            "Hola, {company}:\n\nPara reclamar a la paquetería el robo de {tracking} necesitamos el"
            " acta del Ministerio Público y la factura con el valor.\n\n{agent}",
            ("Acta del Ministerio Público", "Factura"),
        ),
        MOVES["i"],
        (13,),
    ),
    ReadyMacro(
        "weight",
        Wording(
            "Overweight: ask for weight and size",
            "Hello {company},\n\nto have the charge for {tracking} checked, we need a photo of the"
            " parcel on a scale and one that shows its measurements.\n\n{agent}",
            ("Photo on the scale", "Photo with the measurements"),
        ),
        Wording(
            "Sobrepeso: pedir peso y medidas",
            "Hola, {company}:\n\nPara revisar el cargo de {tracking} necesitamos una foto del"
            " paquete en una báscula y otra en la que se vean sus medidas.\n\n{agent}",
            ("Foto en la báscula", "Foto con las medidas"),
        ),
        MOVES["i"],
        (3,),
    ),
    ReadyMacro(
        "address",
        Wording(
            "Ask for the full address",
            "Hello {company},\n\nplease send us the full address for {tracking}: street, number,"
            " postal code, city, and a phone number of the recipient.\n\n{agent}",
        ),
        Wording(
            "Pedir la dirección completa",
            "Hola, {company}:\n\nPor favor, envíenos la dirección completa para {tracking}: calle,"
            " número, código postal, ciudad y un teléfono del destinatario.\n\n{agent}",
        ),
        MOVES["i"],
        (6, 14, 25),
    ),
    ReadyMacro(
        "carrier_asked",
        Wording(
            "We have asked the carrier",
            "Hello {company},\n\nwe have asked the carrier about {tracking} and will write to you"
            " as soon as there is an answer. There is nothing that you have to do.\n\n{agent}",
        ),
        Wording(
            "Consultamos a la paquetería",
            "Hola, {company}:\n\nConsultamos a la paquetería sobre {tracking} y le escribiremos en"
            " cuanto haya respuesta. No tiene que hacer nada.\n\n{agent}",
        ),
        types=(3, 4, 5, 6, 8, 13, 14, 25),
    ),
    ReadyMacro(
        "received",
        Wording(
            "We have what we need",
            "Hello {company},\n\nthank you, we have everything that we need for ticket {ticket} and"
            " are looking at it.\n\n{agent}",
        ),
        Wording(
            "Tenemos lo necesario",
            "Hola, {company}:\n\nGracias, ya tenemos todo lo necesario para el ticket {ticket} y lo"
            " estamos revisando.\n\n{agent}",
        ),
    ),
    ReadyMacro(
        "claim_accepted",
        Wording(
            "Accept: the claim",
            "Hello {company},\n\nyour claim for {tracking} is accepted.\n\n{agent}",
        ),
        Wording(
            "Aceptar: el reclamo",
            "Hola, {company}:\n\nSu reclamo por {tracking} fue aceptado.\n\n{agent}",
        ),
        MOVES["a"],
        (4, 5, 13),
        code="carrier_liable",
    ),
    ReadyMacro(
        "charge_corrected",
        Wording(
            "Accept: the charge was wrong",
            "Hello {company},\n\nyou are right: the charge for {tracking} was wrong and is"
            " corrected.\n\n{agent}",
        ),
        Wording(
            "Aceptar: el cargo era incorrecto",
            "Hola, {company}:\n\nTiene razón: el cargo de {tracking} era incorrecto y se"
            " corrige.\n\n{agent}",
        ),
        MOVES["a"],
        (3,),
        code="charge_wrong",
    ),
    ReadyMacro(
        "evidence_missing",
        Wording(
            "Decline: evidence is missing",
            "Hello {company},\n\nwe cannot accept ticket {ticket}, because the documents that we"
            " asked for did not come. If you have them, you can appeal the decision.\n\n{agent}",
        ),
        Wording(
            "Rechazar: faltan pruebas",
            "Hola, {company}:\n\nNo podemos aceptar el ticket {ticket}, porque no llegaron los"
            " documentos solicitados. Si los tiene, puede apelar la decisión.\n\n{agent}",
        ),
        MOVES["d"],
        code="evidence_missing",
    ),
    ReadyMacro(
        "too_late",
        Wording(
            "Decline: claimed too late",
            "Hello {company},\n\nthe carrier no longer accepts a claim for {tracking}: its deadline"
            " had passed when the ticket was opened.\n\n{agent}",
        ),
        Wording(
            "Rechazar: fuera de plazo",
            "Hola, {company}:\n\nLa paquetería ya no acepta un reclamo por {tracking}: el plazo"
            " había vencido cuando se abrió el ticket.\n\n{agent}",
        ),
        MOVES["d"],
        (4, 5, 13),
        code="claimed_late",
    ),
    ReadyMacro(
        "delivered",
        Wording(
            "Decline: delivered as agreed",
            "Hello {company},\n\nthe carrier has proved that {tracking} was delivered as"
            " agreed.\n\n{agent}",
        ),
        Wording(
            "Rechazar: entregado según lo acordado",
            "Hola, {company}:\n\nLa paquetería demostró que {tracking} se entregó según lo"
            " acordado.\n\n{agent}",
        ),
        MOVES["d"],
        (4, 6, 8, 25),
        code="delivered",
    ),
)
