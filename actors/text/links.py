"""Remove every link except those to sources: links, images, HTML and all invisible characters.

A link's words stay and its address goes, unless the address is one of the sources'. Bare addresses go too. A tag that is
written about, in inline code, stays readable as ⟨tag⟩. What a source contains letter by letter stays as it is: an address of
the web or of a person, and a parameter of a type (`Box<T>`).
"""

import html
import re
import unicodedata
from collections.abc import Collection, Sequence
from typing import Final
from urllib.parse import unquote, urlsplit

from index.languages.characters import visible
from index.text.citations import INLINE_CODE

_ADDRESS: Final = (
    r"(?:[a-z][a-z0-9+.-]{1,20}:|(?<![\w:]))//[^\s<>\"'`\])}，。、；！？»”」』]+|www\.[^\s<>\"'`\])}，。、；»”」』]+"
)
_SCHEME: Final = r"(?:javascript|vbscript|data(?=:[a-z]+/)|file(?=:/)|mailto|tel|blob|intent):[^\s<>\"')\]]+"
_IMAGE = re.compile(r"!\[([^\]]*)\]\s*(?:\(([^()]*(?:\([^()]*\)[^()]*)*)\)|\[[^\]]*\])", re.I)
_LINK = re.compile(r"\[((?:[^\[\]]|\[[^\[\]]*\])*)\]\(\s*<?([^()\s>]*(?:\([^()]*\)[^()\s>]*)*)>?[^()]*\)", re.I)
_REFERENCE = re.compile(r"^[ \t]{0,3}\[[^\]\d][^\]]*\]:\s*\S+.*$", re.M)
_HIDDEN_ELEMENT = re.compile(
    r"<\s*(script|style|iframe|object|embed|svg|template|noscript)\b.*?(?:<\s*/\s*\1\s*>|\Z)", re.I | re.S
)
_COMMENT = re.compile(r"<!--.*?(?:-->|\Z)", re.S)
_TAG = re.compile(r"</?[a-z!?][^<>]*(?:>|\Z)", re.I)
#: The name of a type, of which so many characters are looked at, and its parameter.
_LONGEST_NAME: Final = 60
_TYPE_NAME = re.compile(r"\w+\Z")
_PARAMETER = re.compile(r"<([A-Za-z_]\w*)[\w ,&:*']{0,40}>")
#: The elements of HTML that do more than format a word: their tags are no parameters.
_ELEMENT = re.compile(
    r"a|applet|area|article|audio|base|body|button|canvas|caption|center|dialog|dir|div|embed|fieldset|footer|form|frame(?:set)?"
    r"|head|header|h\d|hr|html|iframe|image|img|input|keygen|li|link|listing|main|map|marquee|math|menu|meta|meter|nav"
    r"|no(?:embed|frames|script)|object|ol|opt(?:group|ion)|output|p|param|picture|plaintext|portal|pre|progress|script|search|section|select|slot|source|style"
    r"|summary|svg|t(?:able|body|d|emplate|extarea|foot|h|head|itle|r|rack)|ul|video|wbr|xmp",
    re.I,
)
#: A tag in inline code, or a placeholder such as <user_name>: what the sentence is about, so it is shown, in brackets that are
#: neither markup nor quotation marks.
_NAMED_TAG = re.compile(r"<(/?[a-z][\w.-]*(?:\s[^<>`\n]*)?/?)>", re.I)
_PLACEHOLDER = re.compile(r"<([a-z0-9]+(?:[_-][a-z0-9]+)+)>", re.I)
_OTHER_BRACKETS: Final = r"⟨\1⟩"
#: `https://` begins an address even directly behind letters; other schemes do not.
_BARE = re.compile(rf"(?:(?<![a-z0-9])<?|(?=https?://))({_ADDRESS}|{_SCHEME})>?", re.I)
_ON_THE_WEB = re.compile(r"https?://|www\.", re.I)
_PERSONS = re.compile(r"<[\w.+-]+@[\w-]+(?:\.[\w-]+)+>")
_TRAILING: Final = ".,;:!?"
#: Text without one of these has nothing to remove.
_SIGN = re.compile(r"[<:&]|//|www\.|![\[]|\]\s*[(\[]", re.I)
_PASSES: Final = 8


def defang(text: str, allowed_urls: Collection[str], sources: Sequence[str] = ()) -> str:
    """`text` without invisible characters, and without links, images and HTML that do not lead to one of `allowed_urls`.

    `sources`: the texts that it may quote.

    Defanging twice changes nothing: removing one thing may uncover a link, so it repeats until nothing is left.
    """
    text = visible(text)
    if not _SIGN.search(text):
        return text
    allowed = {_canonical(url) for url in allowed_urls if url} - {""}
    allowed |= {f"{url.partition('#')[0]}#" for url in allowed}  # the page itself, without the place on it
    for _ in range(_PASSES):
        cleaner = _once(text, allowed, sources)
        if cleaner == text:
            return text
        text = cleaner
    # Text that still uncovers something after so many passes was not written by accident.
    return re.sub(r"[<>]|\]\(|://|!\[", " ", text)


def _once(text: str, allowed: set[str], sources: Sequence[str]) -> str:
    text = visible(text)
    text = INLINE_CODE.sub(lambda code: _NAMED_TAG.sub(_OTHER_BRACKETS, code[0]), text)
    text = _PLACEHOLDER.sub(_OTHER_BRACKETS, text)
    text = _HIDDEN_ELEMENT.sub("", _COMMENT.sub("", text))
    text = _IMAGE.sub(r"\1", text)
    text = _LINK.sub(lambda match: match[0] if _canonical(match[2]) in allowed else match[1], text)
    text = _REFERENCE.sub("", text)
    # Tags are removed whole, before removing an address inside one could leave it open.
    text = _TAG.sub(lambda tag: tag[0] if _is_kept(tag, allowed, sources) else "", text)
    text = _BARE.sub(lambda match: _kept_address(match, allowed, sources), text)
    return _without_entities(text)


def _kept_address(match: re.Match[str], allowed: set[str], sources: Sequence[str]) -> str:
    address = match[1].rstrip(_TRAILING)
    return match[0] if _canonical(address) in allowed or _is_quoted(address, sources) else match[1][len(address) :]


def _is_quoted(address: str, sources: Sequence[str]) -> bool:
    """Whether a source has that address of the web, whole and letter by letter; none that control characters hide."""
    if not _ON_THE_WEB.match(address) or not address.isprintable():
        return False
    whole = re.compile(rf"(?<![\w/]){re.escape(address)}(?![\w/%=&#~+-])")
    return any(address in source and whole.search(source) for source in sources)


def _is_kept(tag: re.Match[str], allowed: set[str], sources: Sequence[str]) -> bool:
    inside = tag[0].strip("<>")
    if _canonical(inside) in allowed or _is_quoted(inside, sources) or _is_parameter(tag, sources):
        return True
    return bool(_PERSONS.fullmatch(tag[0])) and any(tag[0] in source for source in sources)


def _is_parameter(tag: re.Match[str], sources: Sequence[str]) -> bool:
    """Whether it is the parameter of a type, directly behind its name, as a source has it; a browser draws nothing for it."""
    name = _TYPE_NAME.search(tag.string[max(0, tag.start() - _LONGEST_NAME) : tag.start()])
    parameter = _PARAMETER.fullmatch(tag[0])
    if name is None or parameter is None or _ELEMENT.fullmatch(parameter[1]):
        return False
    return any(name[0] + tag[0] in source for source in sources)


def _without_entities(text: str) -> str:
    """Decode the entities that a browser would turn into markup, so that the next pass sees what they hide."""
    if "&" not in text:
        return text
    return re.sub(
        r"&(?:#x?[0-9a-f]{1,8}|lt|gt|quot|apos|colon|sol|lpar|rpar|lsqb|rsqb|excl|newline|tab);",
        _entity,
        text,
        flags=re.I,
    )


def _entity(match: re.Match[str]) -> str:
    char = html.unescape(match[0])
    return " " if char in "<>" or unicodedata.category(char[:1] or " ") in ("Cc", "Cf") else char


def _canonical(url: str) -> str:
    """A canonical form of an address, equal for different spellings of it; "" for an invalid one."""
    url = unquote(html.unescape(visible(url)).strip())
    try:
        parts = urlsplit(url)
    except ValueError:
        return ""
    return f"{parts.scheme.lower()}://{parts.netloc.lower()}{parts.path.rstrip('/')}?{parts.query}#{parts.fragment}"
