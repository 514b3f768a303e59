"""Carriers' tracking pages of a parcel, by the carrier's name."""

from unicodedata import normalize
from urllib.parse import quote, urlsplit

from django.conf import settings

from shipments.carriers import carrier_key

# Addresses in November 2026. A page without {number} has a form for it.
CARRIER_PAGES = {
    "99minutos": "https://tracking.99minutos.com/search/{number}",
    "Correos": "https://www.correos.es/es/es/herramientas/localizador/envios/detalle"
    "?tracking-number={number}",
    "Correos de México": "https://www.correosdemexico.gob.mx/SSLServicios/SeguimientoEnvio/"
    "Seguimiento.aspx",
    "DHL": "https://www.dhl.com/global-en/home/tracking.html?tracking-id={number}&submit=1",
    "DPD": "https://tracking.dpd.de/status/en_US/parcel/{number}",
    "Estafeta": "https://cs.estafeta.com/es/Tracking/searchByGet"
    "?wayBill={number}&wayBillType=0&isShipmentDetail=False",
    "FedEx": "https://www.fedex.com/fedextrack/?trknbr={number}",
    "GLS": "https://gls-group.com/track/{number}",
    "J&T": "https://www.jtexpress.mx/trajectoryQuery?waybillNo={number}&flag=1",
    "Paquetexpress": "https://www.paquetexpress.com.mx/rastreo/{number}",
    "Redpack": "https://www.redpack.com.mx/es/rastreo/?guias={number}",
    "UPS": "https://www.ups.com/track?tracknum={number}",
    "USPS": "https://tools.usps.com/go/TrackConfirmAction?tLabels={number}",
}
# Other names of the same carriers.
ALIASES = {
    "DHL Express": "DHL",
    "FedEx Express": "FedEx",
    "J&T Express": "J&T",
    "Paquete Express": "Paquetexpress",
    "Sepomex": "Correos de México",
}


def parcel_context(carrier: str, number: str) -> dict[str, str]:
    """Return the context of templates/desk/parcel.html."""
    return {"carrier": carrier, "number": number, "page": carrier_page(carrier, number)}


def carrier_page(carrier: str, number: str) -> str:
    """Return the address of the carrier's page of a parcel; "" for an unknown carrier."""
    pages = {name_key(name): page for name, page in CARRIER_PAGES.items()}
    pages |= {name_key(alias): CARRIER_PAGES[name] for alias, name in ALIASES.items()}
    pages |= {name_key(name): page for name, page in settings.CARRIER_PAGES}
    page = pages.get(name_key(carrier), "")
    return page.replace("{number}", quote(number.strip(), safe="")) if is_page(page) else ""


def name_key(carrier: str) -> str:
    """Return one key for a carrier's spellings, without case, accents, spaces and signs."""
    return "".join(filter(str.isalnum, normalize("NFKD", carrier_key(carrier))))


def is_page(page: str) -> bool:
    """Tell if an address is https and has a literal host, without a placeholder or login in it."""
    try:
        parts = urlsplit(page)
        host = parts.hostname or ""
    except ValueError:
        return False
    return parts.scheme == "https" and "." in host and "{" not in parts.netloc and "@" not in host
