"""Writer of a claim's PDF, in a short-lived process with limited resources.

`desk.claim_file.making` runs it as a program; the service never imports it, since it opens
strangers' files. Standard input is JSON with all texts in the reader's language and the paths of
the files; standard output is a line of JSON.
"""

import json
import os
import resource
import sys
from io import BytesIO
from pathlib import Path
from typing import Any

import pypdfium2
from fpdf import FPDF
from fpdf.bidi import BidiParagraph
from fpdf.enums import MethodReturnValue
from PIL import Image, ImageOps

# Isolated Python (-I) does not add the program's folder to the path.
sys.path.append(str(Path(__file__).parents[2]))

from core.files.pdf import has_active_parts, open_pdf

MOST_MEMORY = 1024**3
CPU_SECONDS = 90
LARGEST_OUTPUT = 400 * 1024**2
# Longest side of an image in pixels: a full page at 200 dots per inch.
SIDE = 1_600
MOST_PIXELS = 52_000_000
# Limits of all inserted PDFs together; files beyond them are in the ZIP only.
MOST_PAGES = 300
MOST_BYTES = 100 * 1024**2
# A PDF with scripts is inserted as pictures of its pages, this many at most.
MOST_PICTURES = 20
GREY, INK = (110, 110, 110), (20, 20, 20)


def take_limits() -> None:
    os.nice(10)
    for what, most in (
        (resource.RLIMIT_AS, MOST_MEMORY),
        (resource.RLIMIT_CPU, CPU_SECONDS),
        (resource.RLIMIT_FSIZE, LARGEST_OUTPUT),
        (resource.RLIMIT_CORE, 0),
        (resource.RLIMIT_NPROC, 0),
    ):
        resource.setrlimit(what, (most, most))


class Paper(FPDF):
    """Pages with a footer, and text in any script that the font has."""

    def __init__(self, spec: dict[str, Any]) -> None:
        super().__init__(format="A4")
        self.spec = spec
        self.characters: dict[str, set[int]] = {}
        for style, name in (("", "DejaVuSans.ttf"), ("B", "DejaVuSans-Bold.ttf")):
            self.add_font("DejaVu", style, Path(spec["fonts"]) / name)
            font: Any = self.fonts[f"dejavu{style}"]
            self.characters[style] = set(font.cmap)
        self.set_title(spec["title"])
        self.set_lang(spec["language"])
        self.set_creator(spec["creator"])
        self.set_auto_page_break(True, margin=18)
        self.set_margin(15)
        self.ink()

    def ink(self, size: float = 9, style: str = "", colour: tuple[int, int, int] = INK) -> None:
        self.set_font("DejaVu", style, size)
        self.set_text_color(*colour)

    def footer(self) -> None:
        self.set_y(-13)
        self.ink(7, colour=GREY)
        self.cell(0, 5, self.fit(f"{self.spec['title']} · {self.page_no()}"), align="C")
        self.ink()

    def fit(self, text: str) -> str:
        """Switch from bold to regular if needed, and replace characters that the font lacks."""
        available = self.characters["B" if "B" in self.font_style else ""]
        if "B" in self.font_style and any(ord(one) not in available for one in text):
            self.set_font("DejaVu", "", self.font_size_pt)
            available = self.characters[""]
        return "".join(
            one if ord(one) in available or one == "\n" else f"[U+{ord(one):04X}]" for one in text
        )

    def text_block(self, text: str, height: float = 4.6) -> None:
        """Write a text; lines are broken first, then reordered if they run from right to left."""
        for line in self.lines(self.fit(text), self.epw):
            if self.will_page_break(height):
                self.add_page()
            reordered = visual(line)
            align = "R" if reordered != line else "L"
            self.cell(self.epw, height, reordered, align=align, new_x="LMARGIN", new_y="NEXT")

    def lines(self, text: str, width: float) -> list[str]:
        lines: Any = self.multi_cell(
            width, text=text, align="L", dry_run=True, output=MethodReturnValue.LINES
        )
        return list(lines)

    def heading(self, text: str, size: float = 12) -> None:
        if self.get_y() > self.h - 45:
            self.add_page()
        self.ln(3)
        self.ink(size, "B")
        self.text_block(text, size * 0.55)
        self.ln(1)
        self.ink()

    def grid(self, columns: list[str], rows: list[list[str]], widths: tuple[int, ...]) -> None:
        self.ink(8)
        with self.table(
            col_widths=widths,
            text_align="LEFT",
            line_height=4.4,
            padding=0.8,
            first_row_as_headings=bool(columns),
            borders_layout="HORIZONTAL_LINES",
        ) as table:
            for row in [columns, *rows] if columns else rows:
                line = table.row()
                for cell in row:
                    line.cell(visual(self.fit(cell)))
        self.ink()


def visual(text: str) -> str:
    """Reorder a text with right-to-left parts into the order of its glyphs on paper."""
    if all(ord(one) < 0x590 for one in text):
        return text
    return "\n".join(
        BidiParagraph(line).get_reordered_string() if line else "" for line in text.split("\n")
    )


def write_sections(paper: Paper, sections: list[dict[str, Any]]) -> None:
    for section in sections:
        paper.heading(section["title"])
        if "rows" in section:
            paper.grid(section["columns"], section["rows"], tuple(section["widths"]))
        for message in section.get("messages", []):
            paper.ink(8, "B")
            paper.text_block(f"{message['who']} · {message['at']}", 4.4)
            paper.ink()
            paper.text_block(message["text"])
            paper.ln(2)


def open_file(file: dict[str, Any]) -> pypdfium2.PdfDocument:
    return open_pdf(Path(file["path"]).read_bytes())


def append_file(paper: Paper, file: dict[str, Any]) -> None:
    """Add a page with a picture, or the page that announces those of a PDF.

    Raises whatever the decoder raises.
    """
    if file["type"] == "application/pdf":
        document = open_file(file)
        paper.add_page()
        paper.heading(file["title"])
        paper.text_block(file["follows"].replace("{pages}", str(len(document))))
        if file["active"]:
            for page, _ in zip(document, range(MOST_PICTURES), strict=False):
                scale = SIDE / max(*page.get_size(), 1)
                place_picture(paper, page.render(scale=scale).to_pil(), "")
        return
    image: Image.Image = Image.open(file["path"])
    if image.width * image.height > MOST_PIXELS:
        raise ValueError("too many pixels")
    image.draft("RGB", (SIDE, SIDE))
    place_picture(paper, ImageOps.exif_transpose(image), file["title"])


def place_picture(paper: Paper, image: Image.Image, title: str) -> None:
    image.thumbnail((SIDE, SIDE))
    flat = Image.new("RGB", image.size, "white")
    clear = image.convert("RGBA")
    flat.paste(clear, mask=clear.getchannel("A"))
    jpeg = BytesIO()
    flat.save(jpeg, "JPEG", quality=80)
    paper.add_page()
    if title:
        paper.heading(title)
    top = paper.get_y()
    room = paper.h - top - 20
    scale = min(paper.epw / flat.width, room / flat.height)
    paper.image(jpeg, x=paper.l_margin, y=top, w=flat.width * scale, h=flat.height * scale)


def with_documents(content: bytes, inserts: list[tuple[int, dict[str, Any]]], out: str) -> None:
    """Write the PDF, with each file's pages inserted after the page that announces them.

    Form fields are flattened: without their document's form no viewer draws them.
    """
    whole = pypdfium2.PdfDocument(content)
    for page_number, file in reversed(inserts):
        document = open_file(file)
        if document.formenv:
            for page in document:
                page.flatten()
        whole.import_pages(document, index=page_number)
    whole.save(out)


def make_file(spec: dict[str, Any]) -> dict[str, Any]:
    paper = Paper(spec)
    paper.add_page()
    paper.heading(spec["title"], 16)
    paper.grid([], spec["facts"], (3, 7))
    write_sections(paper, spec["sections"])
    inserts: list[tuple[int, dict[str, Any]]] = []
    left_out = []
    room, pages = MOST_BYTES, MOST_PAGES
    for file in spec["files"]:
        is_pdf = file["type"] == "application/pdf"
        try:
            if is_pdf and not file["active"]:
                document = open_file(file)
                # An earlier version may have stored as harmless what this one finds active.
                file["active"] = has_active_parts(document)
            appended = is_pdf and not file["active"]
            if appended:
                pages -= len(document)
                room -= Path(file["path"]).stat().st_size
                if pages < 0 or room < 0:
                    raise ValueError("too much")
            append_file(paper, file)
        except Exception:  # whatever a decoder says of a file
            left_out.append(file["title"])
            continue
        if appended:
            inserts.append((paper.page_no(), file))
    if left_out:
        paper.add_page()
        paper.heading(spec["left_out"])
        paper.text_block("\n".join(left_out))
    with_documents(bytes(paper.output()), inserts, spec["out"])
    return {"left_out": left_out}


if __name__ == "__main__":
    spec_of_input = json.load(sys.stdin)
    take_limits()
    json.dump(make_file(spec_of_input), sys.stdout)
