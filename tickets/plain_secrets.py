"""Keys of phones as versions before stored them: in clear, in django-otp's own table."""

from django.db import transaction
from django.db.models import QuerySet
from django_otp.util import random_hex

from companies.plain_secrets import PlainSecrets, known
from tickets.models import Phone, PhoneKey


def phones_in_clear() -> QuerySet[Phone]:
    return Phone.objects.filter(phone_key=None)


@transaction.atomic
def encrypt_phones(most: int) -> int:
    """Put the key where it is encrypted, and in its old place digits that open nothing."""
    # Not only the keys: a code that is being checked locks and saves the whole row.
    phones = Phone.objects.select_for_update(of=("self",)).order_by("pk")
    found = phones.filter(pk__in=list(phones_in_clear().values_list("pk", flat=True)[:most]))
    for phone in found:
        _, is_new = PhoneKey.objects.get_or_create(device=phone, defaults={"key": phone.key})
        if not is_new:
            continue
        phone.key = random_hex(len(phone.key) // 2)
        phone.save(update_fields=["key"])
    return len(found)


known.append(PlainSecrets("phones", lambda: phones_in_clear().count(), encrypt_phones))
