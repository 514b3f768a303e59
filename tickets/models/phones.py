"""Second factors of the users of the desk."""

from binascii import unhexlify

from django.db import models
from django_otp.plugins.otp_totp.models import TOTPDevice

from core.data.encryption import EncryptedTextField, UnreadableSecret


class Phone(TOTPDevice):
    """Second factor: django-otp's device, with its key encrypted in a table of ours.

    Its own column `key` has random digits that are never used.
    """

    class Meta:
        proxy = True
        default_permissions = ()

    @property
    def bin_key(self) -> bytes:
        """Decrypted key. Raises UnreadableSecret."""
        stored = PhoneKey.objects.filter(device=self).first()
        if stored is None or stored.key is None:
            raise UnreadableSecret(f"Phone {self.pk} has no key.")
        return unhexlify(stored.key)

    def is_readable(self) -> bool:
        try:
            return bool(self.bin_key)
        except UnreadableSecret:
            return False


class PhoneKey(models.Model):
    """Shared secret of a phone, in hex digits."""

    device = models.OneToOneField(
        TOTPDevice, on_delete=models.CASCADE, primary_key=True, related_name="phone_key"
    )
    key = EncryptedTextField(editable=False)

    class Meta:
        default_permissions = ()

    def __str__(self) -> str:
        return f"key of phone {self.pk}"
