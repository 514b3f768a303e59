"""The second factors of the people at the desk."""

from binascii import unhexlify

from django.db import models
from django_otp.plugins.otp_totp.models import TOTPDevice

from core.data.encryption import EncryptedTextField, UnreadableSecret


class Phone(TOTPDevice):
    """A second factor: django-otp's device, whose key lies encrypted in a table of ours.

    Its own column `key` holds random digits that open nothing.
    """

    class Meta:
        proxy = True
        default_permissions = ()

    @property
    def bin_key(self) -> bytes:
        """Raises UnreadableSecret."""
        kept = PhoneKey.objects.filter(device=self).first()
        if kept is None or kept.key is None:
            raise UnreadableSecret(f"Phone {self.pk} has no key.")
        return unhexlify(kept.key)

    def is_readable(self) -> bool:
        try:
            return bool(self.bin_key)
        except UnreadableSecret:
            return False


class PhoneKey(models.Model):
    """The hex digits that a phone and we share."""

    device = models.OneToOneField(
        TOTPDevice, on_delete=models.CASCADE, primary_key=True, related_name="phone_key"
    )
    key = EncryptedTextField(editable=False)

    class Meta:
        default_permissions = ()

    def __str__(self) -> str:
        return f"key of phone {self.pk}"
