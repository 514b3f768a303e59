"""PDFs of companies: active ones, bytes around them, and the rendering of their forms."""

from io import BytesIO

import pypdfium2
import pytest
from PIL import Image
from rest_framework.test import APIClient

from companies.models import Company
from core.files import examining, kinds
from core.files.pdf import has_active_parts, open_pdf
from tests import builders as build
from tests import files, pdfs
from tests.files import send
from tickets.models import TicketFile

GOES = b"/S/GoTo/D[3 0 R/Fit]"
PAGE_OF_ITS_OWN = b"<<%s>>" % GOES
ACTS = [
    b"/S/SubmitForm/F(http://a.test)",
    b"/S/URI/URI(http://a.test)",
    b"/S/Launch/F(a.exe)",
    rb"/S/GoToR/F(\\\\host\\share)/D[0/Fit]",
    b"/S/GoToE/D[0/Fit]",
    b"/S/ImportData/F(a.fdf)",
    b"/S/Movie/T(a)",
    b"/S/Rendition/OP 0",
    b"/S/JavaScript/JS(app.alert\\(1\\))",
    b"/S/Named/N/Print",
    b"/S/Hide/T(a)",
    GOES + b"/Next<</S/URI/URI(http://a.test)>>",
]
XFA = pdfs.stream(b"<xdp:xdp><script>app.alert(1)</script></xdp:xdp>")


@pytest.mark.parametrize("packed", [False, True], ids=["plain", "in object streams"])
@pytest.mark.parametrize("act", ACTS)
def test_an_action_without_a_click_makes_a_pdf_active(act: bytes, packed: bool) -> None:
    for catalog, page in (
        (b"/OpenAction 4 0 R", b""),
        (b"/OpenAction<<%s>>" % act, b""),
        (b"/Open#41ction 4 0 R", b""),
        (b"/AA<</WC 4 0 R>>", b""),
        (b"", b"/A#41<</O 4 0 R>>"),
    ):
        content = pdfs.page_of_pdf(catalog, page, b"<<%s>>" % act, packed=packed)

        assert has_active_parts(open_pdf(content)), catalog


@pytest.mark.parametrize(
    ("catalog", "page", "others", "packed"),
    [
        (b"/AcroForm<</Fields[]/XFA 4 0 R>>", b"", [XFA], False),
        (b"/AcroForm<</Fields[]/XFA[(form)5 0 R]>>", b"", [b"null", b"(script)"], True),
        (b"/AcroForm<</Fields[]/X#46A[(form)5 0 R]>>", b"", [b"null", b"(script)"], True),
        (b"/Names<</EmbeddedFiles<</Names[]>>>>", b"", [], True),
        (b"", b"/Annots[<</Subtype/3D/Rect[0 0 9 9]>>]", [], False),
        (b"", b"/Annots[<</Subtype/RichMedia/Rect[0 0 9 9]>>]", [], True),
        (b"", b"/Annots[<</Subtype/Movie/Rect[0 0 9 9]>>]", [], False),
        (b"", b"/Annots[4 0 R]", [b"<</Subtype/Link/Rect[0 0 9 9]/A<</S/GoToR/F(a)>>>>"], True),
        # A decoy in a stream, with the number of the action.
        (
            b"/OpenAction 5 0 R",
            b"/Contents 4 0 R",
            [
                pdfs.stream(b"endstream endobj 5 0 obj <<%s>> endobj (" % GOES),
                b"<</S/URI/URI(http://a.test)>>",
            ],
            False,
        ),
    ],
)
def test_other_active_parts_are_recognized(
    catalog: bytes, page: bytes, others: list[bytes], packed: bool
) -> None:
    assert has_active_parts(open_pdf(pdfs.page_of_pdf(catalog, page, *others, packed=packed)))


@pytest.mark.parametrize(
    ("catalog", "page", "other"),
    [
        (b"", b"", b"null"),
        (b"/OpenAction[3 0 R/XYZ null null 0]", b"", b"null"),
        (b"/OpenAction<<%s>>" % GOES, b"", b"null"),
        (b"/OpenAction 4 0 R", b"", PAGE_OF_ITS_OWN),
        (b"/OpenAction 9 0 R", b"", b"null"),
        (b"", b"/Annots[4 0 R]", b"<</Subtype/Link/Rect[0 0 9 9]/A<</S/URI/URI(https://a.b)>>>>"),
        (b"/Lang(en /JS /AA /XFA )", b"", b"null"),
        (b"", b"/Contents 4 0 R", pdfs.stream(b"% /JS /AA /XFA (\n")),
    ],
)
def test_places_links_and_words_are_harmless(catalog: bytes, page: bytes, other: bytes) -> None:
    assert not has_active_parts(open_pdf(pdfs.page_of_pdf(catalog, page, other)))
    assert not has_active_parts(open_pdf(pdfs.form_pdf()))


def test_an_upload_that_acts_is_marked(api: APIClient, company: Company) -> None:
    ticket = build.ticket(company)
    form = pdfs.page_of_pdf(b"/AcroForm<</Fields[]/XFA 4 0 R>>", b"", XFA)

    assert send(api, ticket.pk, form, "form.pdf")[0] == 200
    assert send(api, ticket.pk, pdfs.form_pdf(), "filled.pdf")[0] == 200

    assert [file.active for file in TicketFile.objects.order_by("pk")] == [True, False]


ON_AND_OFF = b"/AP<</N<</On 5 0 R/Off 6 0 R>>>>"


@pytest.mark.parametrize(
    ("field", "looks", "drawn"),
    [
        (b"/FT/Tx/V(black)", b"", True),
        (b"/FT/Btn/V/On/AS/On", ON_AND_OFF, True),
        (b"/FT/Btn/V/Off/AS/Off", ON_AND_OFF, False),
        (b"/FT/Sig/V<</Type/Sig/Filter/Adobe.PPKLite>>", b"", True),
        (b"/FT/Ch/V(black)/Opt[(black)]/Ff 131072", b"", True),
        (b"/FT/Btn/Ff 49152/V/On/AS/On", ON_AND_OFF, True),
        (b"/FT/Btn/Ff 49152/V/Off/AS/Off", ON_AND_OFF, False),
        (b"/FT/Ch/V[(black)]/Opt[(black)(white)]/I[0]", b"", True),
        (b"/FT/Tx/V(black)/Ff 4096/MK<</R 90>>", b"", True),
        (b"/FT/Tx/V(black)/F 2", b"", False),
    ],
    ids=[
        "text",
        "ticked",
        "not ticked",
        "signature",
        "choice",
        "chosen of several",
        "not chosen of several",
        "list",
        "turned",
        "hidden",
    ],
)
def test_the_fields_of_a_form_are_drawn(field: bytes, looks: bytes, drawn: bool) -> None:
    content = pdfs.form_pdf(field, looks)

    for picture in (
        examining.make_thumbnail(content, "application/pdf"),
        examining.picture_of_page(content, 1)[0],
    ):
        image = Image.open(BytesIO(picture)).convert("L")
        inside = image.getpixel((image.width * 7 // 20, image.height // 2))
        outside = image.getpixel((image.width * 17 // 20, image.height // 2))
        assert isinstance(inside, int)
        assert (inside < 50) == drawn
        assert outside == 255


def test_bytes_around_a_pdf_do_no_harm(api: APIClient, company: Company) -> None:
    ticket = build.ticket(company)
    whole = files.pdf()
    body = whole[: whole.rindex(b"%%EOF")]
    assert body.count(b"startxref") == 1

    for content in (
        whole + b"\r\n" * 1_100,
        whole + bytes(5_000),
        whole + b"--boundary--\r\n" + b"<html>logged out</html>" * 200,
        body,
        body.rstrip(),
        b"\r\n\r\n" + whole,
        b"\xef\xbb\xbf" + whole,
        b"\x1b%-12345X@PJL ENTER LANGUAGE=PDF\r\n" + whole,
        b"Content-Type: application/pdf\r\n\r\n" + whole,
        b"junk " * 200 + whole,
    ):
        status, answer = send(api, ticket.pk, content, "a.pdf")
        assert (status, answer.get("message")) == (200, None), content[:50]


def test_a_cut_pdf_is_refused(api: APIClient, company: Company) -> None:
    ticket = build.ticket(company)
    whole = files.pdf(3)
    update = b"9 0 obj\n<</Type/Annot>>\nendobj\n" + b"% more\n" * 50

    for content in (
        whole[: whole.rindex(b"startxref")],
        whole[: len(whole) // 2],
        # A document with an incremental update that is cut off.
        whole + update,
    ):
        status, answer = send(api, ticket.pk, content, "a.pdf")
        assert (status, answer["code"]) == (422, "file_unreadable")


def test_a_page_of_html_with_a_pdf_behind_it_is_html() -> None:
    with pytest.raises(kinds.FileRefused):
        kinds.media_type_of(files.HTML + files.pdf())
    assert pypdfium2.PdfDocument(files.pdf())
