"""Small ICC profiles for tests, written by hand."""

import struct


def number(value: float) -> bytes:
    return struct.pack(">i", round(value * 65536))


def xyz(*values: float) -> bytes:
    return b"XYZ \0\0\0\0" + b"".join(number(value) for value in values)


def curve(*values: float) -> bytes:
    """Build a parametric curve: a gamma alone, or the five numbers of sRGB."""
    kind = 0 if len(values) == 1 else 3
    return b"para\0\0\0\0" + struct.pack(">HH", kind, 0) + b"".join(map(number, values))


def text(words: str) -> bytes:
    data = words.encode("utf-16-be")
    head = struct.pack(">II2s2sII", 1, 12, b"en", b"US", len(data), 28)
    return b"mluc\0\0\0\0" + head + data


def profile(space: bytes, tags: dict[bytes, bytes]) -> bytes:
    """Build a display profile of version 4 for `RGB ` or `GRAY`."""
    table, data = b"", b""
    start = 128 + 4 + 12 * len(tags)
    for name, content in tags.items():
        padded = content + bytes(-len(content) % 4)
        table += name + struct.pack(">II", start + len(data), len(content))
        data += padded
    body = struct.pack(">I", len(tags)) + table + data
    head = struct.pack(
        ">I4sI4s4s4s", 128 + len(body), bytes(4), 0x04300000, b"mntr", space, b"XYZ "
    )
    head += struct.pack(">6H4s", 2026, 1, 1, 0, 0, 0, b"acsp") + bytes(28)
    white = number(0.9642) + number(1.0) + number(0.8249)
    return (head + white).ljust(128, b"\0") + body


SRGB_CURVE = curve(2.4, 1 / 1.055, 0.055 / 1.055, 1 / 12.92, 0.04045)
WHITE = xyz(0.9642, 1.0, 0.8249)
# Primaries of Display P3, adapted to D50, as phones embed them.
DISPLAY_P3 = profile(
    b"RGB ",
    {
        b"desc": text("Display P3"),
        b"cprt": text("none"),
        b"wtpt": WHITE,
        b"rXYZ": xyz(0.51512, 0.24120, -0.00105),
        b"gXYZ": xyz(0.29198, 0.69225, 0.04189),
        b"bXYZ": xyz(0.15710, 0.06657, 0.78407),
        **dict.fromkeys((b"rTRC", b"gTRC", b"bTRC"), SRGB_CURVE),
    },
)
ADOBE_RGB = profile(
    b"RGB ",
    {
        b"desc": text("Adobe RGB (1998)"),
        b"cprt": text("none"),
        b"wtpt": WHITE,
        b"rXYZ": xyz(0.60974, 0.31111, 0.01947),
        b"gXYZ": xyz(0.20528, 0.62567, 0.06087),
        b"bXYZ": xyz(0.14919, 0.06322, 0.74457),
        **dict.fromkeys((b"rTRC", b"gTRC", b"bTRC"), curve(563 / 256)),
    },
)
GREY_GAMMA_1 = profile(
    b"GRAY",
    {
        b"desc": text("Grey, linear"),
        b"cprt": text("none"),
        b"wtpt": WHITE,
        b"kTRC": curve(1.0),
    },
)
