"""Images of companies: the stored image looks as the original did."""

import struct
from io import BytesIO
from typing import Any

import pytest
from django.core.files.storage import default_storage
from PIL import Image, ImageCms
from rest_framework.test import APIClient

from companies.models import Company
from tests import builders as build
from tests import files
from tests.files import send
from tests.profiles import ADOBE_RGB, DISPLAY_P3, GREY_GAMMA_1
from tickets.models import Ticket, TicketFile

SRGB = ImageCms.ImageCmsProfile(ImageCms.createProfile("sRGB")).tobytes()


@pytest.fixture
def ticket(company: Company) -> Ticket:
    return build.ticket(company)


def encoded(image: Image.Image, form: str = "PNG", **options: Any) -> bytes:
    buffer = BytesIO()
    image.save(buffer, form, **options)
    return buffer.getvalue()


def stored(api: APIClient, ticket: Ticket, content: bytes) -> Image.Image:
    """Upload an image; return the stored one."""
    status, answer = send(api, ticket.pk, content)
    assert status == 200, answer
    file = TicketFile.objects.get(pk=answer["data"]["id"])
    image: Image.Image = Image.open(BytesIO(default_storage.open(file.stored_as).read()))
    assert "icc_profile" not in image.info
    return image


def near(colour: Any, expected: Any, by: int = 6) -> bool:
    pairs = zip(colour, expected, strict=True)
    return all(abs(one - other) <= by for one, other in pairs)


def pixel(image: Image.Image, mode: str = "RGB", at: tuple[int, int] = (1, 1)) -> Any:
    return image.convert(mode).getpixel(at)


def test_grey_of_16_bits_keeps_its_shades(api: APIClient, ticket: Ticket) -> None:
    raw = b"".join(value.to_bytes(2, "little") for value in (0, 20_000, 40_000, 65_535)) * 4
    image = Image.frombytes("I;16", (4, 4), raw)

    stored_image = stored(api, ticket, encoded(image))

    assert stored_image.mode == "L"
    row = [stored_image.getpixel((x, 2)) for x in range(4)]
    assert near(row, (0, 78, 156, 255), by=1), row


@pytest.mark.parametrize(
    ("kind", "samples", "more", "expected"),
    [
        (0, (0x5A00,), (b"tRNS", b"\x5a\x01"), (90, 90, 90, 255)),
        (0, (0x5A01,), (b"tRNS", b"\x5a\x01"), (90, 90, 90, 0)),
        (2, (0x09FF, 0x6300, 0xC7FF), None, (9, 99, 199, 255)),
        (4, (0x5A00, 0x28FF), None, (90, 90, 90, 40)),
        (6, (0x09FF, 0x6300, 0xC7FF, 0x32FF), None, (9, 99, 199, 50)),
    ],
    ids=["grey", "the transparent grey", "RGB", "grey and alpha", "RGB and alpha"],
)
def test_16_bits_a_channel_become_8(
    api: APIClient,
    ticket: Ticket,
    kind: int,
    samples: tuple[int, ...],
    more: tuple[bytes, bytes] | None,
    expected: Any,
) -> None:
    row = b"\0" + struct.pack(f">{len(samples)}H", *samples) * 4
    content = files.png((4, 4, 16, kind), row * 4, *([more] if more else []))

    assert near(pixel(stored(api, ticket, content), "RGBA"), expected, by=1)


@pytest.mark.parametrize(
    ("image", "options", "expected"),
    [
        (Image.new("L", (4, 4), 90), {}, (90, 90, 90, 255)),
        (Image.new("LA", (4, 4), (90, 40)), {}, (90, 90, 90, 40)),
        (Image.new("1", (4, 4), 1), {}, (255, 255, 255, 255)),
        (Image.new("RGBA", (4, 4), (9, 99, 199, 50)), {}, (9, 99, 199, 50)),
        (Image.new("RGB", (4, 4), (9, 99, 199)).quantize(), {}, (9, 99, 199, 255)),
        (Image.new("P", (4, 4), 0), {"transparency": 0}, (0, 0, 0, 0)),
    ],
    ids=["L", "LA", "1", "RGBA", "palette", "palette with transparency"],
)
def test_every_kind_of_png_looks_the_same(
    api: APIClient, ticket: Ticket, image: Image.Image, options: Any, expected: Any
) -> None:
    assert near(pixel(stored(api, ticket, encoded(image, **options)), "RGBA"), expected, by=1)


@pytest.mark.parametrize("form", ["JPEG", "PNG", "WEBP"])
def test_colours_of_a_profile_are_converted(api: APIClient, ticket: Ticket, form: str) -> None:
    """Use a colour of Display P3 that sRGB has under other numbers."""
    image = Image.new("RGB", (16, 16), (180, 90, 60))

    stored_image = stored(api, ticket, encoded(image, form, icc_profile=DISPLAY_P3))

    assert near(pixel(stored_image), (193, 86, 52)), pixel(stored_image)


def test_a_photo_in_adobe_rgb_is_converted(api: APIClient, ticket: Ticket) -> None:
    image = Image.new("RGB", (16, 16), (120, 150, 90))

    colour = pixel(stored(api, ticket, encoded(image, "JPEG", icc_profile=ADOBE_RGB)))

    assert near(colour, (105, 151, 86)), colour


def test_a_photo_for_printing_keeps_its_colours(api: APIClient, ticket: Ticket) -> None:
    """Use four colours without a profile, as scanners and agencies send them."""
    image = Image.new("CMYK", (16, 16), (0, 200, 200, 0))

    stored_image = stored(api, ticket, encoded(image, "JPEG"))

    assert (stored_image.mode, near(pixel(stored_image), (255, 55, 55))) == ("RGB", True)


@pytest.mark.parametrize(
    ("image", "clear", "expected"),
    [
        (Image.new("L", (4, 4), 7), 7, (7, 7, 7, 0)),
        (Image.new("RGB", (4, 4), (1, 2, 3)), (1, 2, 3), (1, 2, 3, 0)),
        (Image.new("1", (4, 4), 0), 0, (0, 0, 0, 0)),
        (Image.new("RGB", (4, 4), (180, 90, 60)).quantize(), b"\x40", (180, 90, 60, 64)),
    ],
    ids=["grey", "RGB", "black and white", "palette"],
)
def test_a_transparent_shade_stays_transparent(
    api: APIClient, ticket: Ticket, image: Image.Image, clear: Any, expected: Any
) -> None:
    stored_image = stored(api, ticket, encoded(image, transparency=clear))

    assert near(pixel(stored_image, "RGBA"), expected, by=1)


def test_pure_red_of_a_phone_stays_pure_red(api: APIClient, ticket: Ticket) -> None:
    image = Image.new("RGB", (16, 16), (250, 0, 0))

    colour = pixel(stored(api, ticket, encoded(image, "JPEG", icc_profile=DISPLAY_P3)))

    assert near(colour, (255, 0, 0), by=4), colour


def test_alpha_and_palettes_survive_their_profile(api: APIClient, ticket: Ticket) -> None:
    clear = Image.new("RGBA", (16, 16), (180, 90, 60, 77))
    palette = Image.new("RGB", (16, 16), (180, 90, 60)).quantize()

    colour = pixel(stored(api, ticket, encoded(clear, icc_profile=DISPLAY_P3)), "RGBA")
    flat = pixel(stored(api, ticket, encoded(palette, icc_profile=DISPLAY_P3)))

    assert near(colour, (193, 86, 52, 77)), colour
    assert near(flat, (193, 86, 52)), flat


def test_a_grey_profile_is_applied(api: APIClient, ticket: Ticket) -> None:
    image = Image.new("L", (16, 16), 55)

    stored_image = stored(api, ticket, encoded(image, icc_profile=GREY_GAMMA_1))

    # Linear 55 of 255 is 128 in sRGB.
    assert stored_image.mode == "L"
    assert near([stored_image.getpixel((1, 1))], [128], by=3), stored_image.getpixel((1, 1))


@pytest.mark.parametrize(
    ("image", "profile"),
    [
        (Image.new("RGB", (16, 16), (180, 90, 60)), b"not a profile"),
        (Image.new("RGB", (16, 16), (180, 90, 60)), GREY_GAMMA_1),
        (Image.new("RGB", (16, 16), (180, 90, 60)), SRGB),
    ],
    ids=["broken", "of another colour space", "sRGB"],
)
def test_other_profiles_change_nothing(
    api: APIClient, ticket: Ticket, image: Image.Image, profile: bytes
) -> None:
    stored_image = stored(api, ticket, encoded(image, icc_profile=profile))

    assert pixel(stored_image) == (180, 90, 60)


def test_a_cmyk_jpeg_is_kept_in_its_colours_and_upright(api: APIClient, ticket: Ticket) -> None:
    notes = Image.Exif()
    notes[0x0112] = 6
    image = Image.new("CMYK", (16, 8), (0, 255, 255, 0))

    stored_image = stored(api, ticket, encoded(image, "JPEG", exif=notes))

    assert (stored_image.mode, stored_image.size) == ("RGB", (8, 16))
    assert near(pixel(stored_image), (255, 0, 0)), pixel(stored_image)
