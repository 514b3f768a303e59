"""What a long-lived process does once it is loaded."""

import gc


def settle() -> None:
    """Take what is loaded by now out of the garbage collector's rounds.

    It stays for the life of the process: a hundred thousand objects, which a full round would
    look through again and again, for about a tenth of a second in which nobody is answered.
    """
    gc.collect()
    gc.freeze()
