"""How a contract says that something must be refused."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator

from fewsight._base.checks import shown
from fewsight._base.errors import FewsightError, InvalidInput


@contextlib.contextmanager
def refusal(sentence: str, error: type[Exception] = FewsightError) -> Iterator[None]:
    """What is inside must raise that error, with a text in which the pattern is found."""
    try:
        yield
    except error as refused:
        if re.search(sentence, str(refused)):
            return
        raise AssertionError(f"the refusal must say {sentence!r}, got {str(refused)!r}") from refused
    raise AssertionError(f"must be refused with {sentence!r}, but was not")


def check_is(who: str, name: str, value: object, base: type) -> None:
    """Refuse what is no object of a class derived from this one, such as the class itself."""
    if not isinstance(value, base):
        raise InvalidInput(
            f"{who}: {name} must be an object of a class derived from {base.__name__}, got {shown(value)}."
        )
