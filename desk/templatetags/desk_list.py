"""The table of tickets. Unfold's own would compute all headings again for each row."""

from typing import TYPE_CHECKING, Any

from django import template
from django.contrib.admin import helpers
from unfold.templatetags.unfold_list import result_headers

from tickets.changes.page_tokens import page_token_of

if TYPE_CHECKING:  # unfold.admin, which it imports, loads this module
    from desk.queue.changelist import TicketChangeList

register = template.Library()


@register.inclusion_tag("desk/list_table.html")
def ticket_table(cl: "TicketChangeList") -> dict[str, Any]:
    headers = list(result_headers(cl))
    checkbox = "action_checkbox" in cl.list_display
    columns = [
        (name, header["text"], getattr(cl.model_admin, name))
        for name, header in zip(map(str, cl.list_display), headers, strict=True)
        if name != "action_checkbox"
    ]
    return {
        "cl": cl,
        "result_headers": headers,
        "num_sorted_fields": 0,
        "checkbox": helpers.ACTION_CHECKBOX_NAME if checkbox else "",
        "rows": [
            (
                ticket.pk,
                page_token_of(ticket),
                [(name, label, cell(ticket)) for name, label, cell in columns],
            )
            for ticket in cl.result_list
        ],
    }
