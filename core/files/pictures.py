"""Untrusted images: estimating their cost, opening and re-encoding them.

Runs in the bounded processes that open files, never in the service.
"""

from io import BytesIO

from PIL import Image, ImageCms, ImageMath, ImageOps

from core.values.texts import gettext_noop

FORMATS = {"image/jpeg": "JPEG", "image/png": "PNG", "image/webp": "WEBP"}
# The slower methods of WebP take three times as long and save a tenth.
OPTIONS = {"JPEG": {"quality": 90}, "PNG": {}, "WEBP": {"quality": 90, "method": 0}}
# Phone cameras make 50 million; a bomb of some kilobytes makes thousands of millions.
MOST_PIXELS = 52_000_000
# Seconds of processor that decoding and encoding take at worst, per million pixels and per MiB,
# measured with noise on a slow core. A scan of a JPEG goes over all pixels once more.
PER_MEGAPIXEL = {"JPEG": 0.02, "PNG": 0.035, "WEBP": 0.11}
PER_MEBIBYTE = {"JPEG": 0.04, "PNG": 0.12, "WEBP": 0.02}
PER_SCAN_AND_MEGAPIXEL = 0.002
START_OF_SCAN = b"\xff\xda"
DEAREST_SECONDS = 4.5
SRGB = ImageCms.createProfile("sRGB")


TOO_MANY_PIXELS = gettext_noop(
    "The image has %(width)d x %(height)d pixels, which are too many. Make it smaller."
)
SLOW_JPEG = gettext_noop(
    "The image has %(width)d x %(height)d pixels, which take too long to open in this form."
    " Make it smaller."
)
SLOW_IMAGE = gettext_noop(
    "The image has %(width)d x %(height)d pixels, which take too long to open in this form."
    " Make it smaller, or send it as a JPEG."
)
TOO_DETAILED = gettext_noop("The image has too much detail for a %(form)s of its size.")


class TooComplex(Exception):
    """The file is too large or costly to process; the message says what, with `values`."""

    def __init__(self, message: str, **values: int | str) -> None:
        super().__init__(message)
        self.values = values


def open_image(content: bytes, media_type: str) -> Image.Image:
    """Decode the whole image, upright, in sRGB. Raises TooComplex."""
    form = FORMATS[media_type]
    Image.MAX_IMAGE_PIXELS = None  # our own limit is checked first, without a warning
    image: Image.Image = Image.open(BytesIO(content), formats=[form])
    refuse_costly(image, content, form)
    image.load()
    return in_srgb(in_eight_bits(upright(image)))


def refuse_costly(image: Image.Image, content: bytes, form: str) -> None:
    """Refuse a costly image by its header, before any pixel is read. Raises TooComplex."""
    size = {"width": image.width, "height": image.height}
    if image.width * image.height > MOST_PIXELS:
        raise TooComplex(TOO_MANY_PIXELS, **size)
    millions = image.width * image.height / 1_000_000
    seconds = millions * PER_MEGAPIXEL[form] + len(content) / 2**20 * PER_MEBIBYTE[form]
    if form == "JPEG":
        seconds += millions * PER_SCAN_AND_MEGAPIXEL * content.count(START_OF_SCAN)
    if seconds > DEAREST_SECONDS:
        raise TooComplex(SLOW_JPEG if form == "JPEG" else SLOW_IMAGE, **size)


def upright(image: Image.Image) -> Image.Image:
    try:
        return ImageOps.exif_transpose(image)
    except Exception:  # EXIF data may be broken in an intact picture
        return image


def in_eight_bits(image: Image.Image) -> Image.Image:
    """Convert 16-bit grey to 8 bits; Pillow's own conversion makes all but black white."""
    if not image.mode.startswith("I"):
        return image
    profile, clear = image.info.get("icc_profile"), image.info.get("transparency")
    wide = image.convert("I")
    wide.info.clear()
    grey = wide.point(lambda value: value * (1 / 256)).convert("L")
    if isinstance(clear, int):
        # One shade is transparent, and its neighbours of 8 bits are not.
        grey.putalpha(
            ImageMath.lambda_eval(
                lambda on: on["convert"]((on["wide"] != clear) * 255, "L"), wide=wide
            )
        )
    if profile:
        grey.info["icc_profile"] = profile
    return grey


def in_srgb(image: Image.Image) -> Image.Image:
    """Apply the colour profile, which is not stored; a broken or misplaced one is ignored."""
    profile = image.info.get("icc_profile")
    if not profile:
        return image
    if image.mode == "P":
        image = image.convert("RGBA" if image.has_transparency_data else "RGB")
    alpha = image.getchannel("A") if image.mode in ("LA", "RGBA") else None
    plain = image.convert(image.mode[:-1]) if alpha else image
    try:
        source = ImageCms.ImageCmsProfile(BytesIO(profile))
        if ImageCms.getProfileDescription(source).startswith("sRGB"):
            return image
        converted = ImageCms.profileToProfile(plain, source, SRGB, outputMode="RGB")
    except (ImageCms.PyCMSError, OSError, ValueError):
        return image
    if converted is None:
        return image
    if plain.mode == "L":
        converted = converted.convert("L")
    if alpha:
        converted.putalpha(alpha)
    return converted


def encode_image(image: Image.Image, form: str) -> bytes:
    """Encode the pixels and nothing else: no EXIF, no comment, no bytes after the end."""
    if image.has_transparency_data and form != "JPEG":
        mode = "RGBA"
    elif image.mode in ("1", "L"):
        mode = "L"
    else:
        mode = "RGB"
    clean = image if image.mode == mode else image.convert(mode)
    clean.info.clear()
    output = BytesIO()
    try:
        clean.save(output, form, **OPTIONS[form])
    except ValueError as error:  # WebP has no room for it
        raise TooComplex(TOO_DETAILED, form=form) from error
    return output.getvalue()
