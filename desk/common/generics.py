"""Django's classes that are generic for the type checker, and ignore `[...]` at run time.

They are generic in the stubs only, not in Django. The other names exist in the stubs alone.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from django.contrib.auth.forms import SetPasswordForm as SetPasswordForm
    from django.core.paginator import Paginator as Paginator
    from django.forms import BaseInlineFormSet as BaseInlineFormSet
    from django.forms import ModelChoiceField as ModelChoiceField
    from django.forms import ModelForm as ModelForm
    from django_stubs_ext import StrOrPromise as StrOrPromise
    from django_stubs_ext import StrPromise as StrPromise
    from django_stubs_ext import WithAnnotations as WithAnnotations
else:
    from django import forms
    from django.contrib.auth import forms as auth_forms
    from django.core import paginator

    class Subscriptable:
        def __class_getitem__(cls, _: object) -> type:
            return cls

    StrPromise = StrOrPromise = object

    class WithAnnotations(Subscriptable):
        pass

    class BaseInlineFormSet(Subscriptable, forms.BaseInlineFormSet):
        pass

    class ModelChoiceField(Subscriptable, forms.ModelChoiceField):
        pass

    class ModelForm(Subscriptable, forms.ModelForm):
        pass

    class Paginator(Subscriptable, paginator.Paginator):
        pass

    class SetPasswordForm(Subscriptable, auth_forms.SetPasswordForm):
        pass
