"""What each language calls the others, as Unicode's CLDR has it (by Babel)."""

from functools import cache

from index.languages import FALLBACK, LANGUAGES


@cache
def named(codes: tuple[str, ...], language: str) -> str:
    """An enumeration of these languages in another one; a code without a name is kept."""
    from babel import Locale
    from babel.lists import format_list

    locale = Locale(language if language in LANGUAGES else FALLBACK)
    return format_list([locale.languages.get(code, code) for code in codes], locale=locale)
