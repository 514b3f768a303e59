"""Filter for texts that others wrote (decision N30)."""

from django import template

from core.values.texts import legible, show_controls

register = template.Library()


@register.filter
def readable(text: object) -> str:
    """Clip towers of marks, and show bidirectional controls instead of obeying them."""
    return show_controls(legible(str(text)))
