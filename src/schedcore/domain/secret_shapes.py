"""What looks like a secret although nobody named it: masked by shape, conservatively (E-25, T12).

- after ``Authorization:`` and a scheme; after ``Bearer``, 16 or more characters with a digit among them;
- the password of a DSN: ``scheme://user:password@host``, ``password=…``;
- in a URL's query: the values of ``token``, ``key``, ``secret``, ``sig``, ``code`` and the like;
- 4 to 8 digits right after words such as "verification code", "one-time password" or "OTP".

A shape is tried only where one of its words is found, and never crosses a line.
"""

from __future__ import annotations

import re

__all__ = ["WORDS", "has_word", "mask_bytes", "mask_text"]

_CHARS = r"[A-Za-z0-9._~+/=-]"
_DONE = r"(?!\[masked:)"
_AUTHORIZATION = (
    r"(authorization[\"']?[ \t]*[:=][ \t]*[\"']?(?:bearer|basic|token|digest|negotiate|apikey)[ \t]+)"
    rf"{_CHARS}{{4,}}"
)
_BEARER = rf"(\bbearer[ \t]+)(?={_CHARS}*[0-9]){_CHARS}{{16,}}"
_URL_PASSWORD = rf"(://[^\s/:@\"']*:){_DONE}[^\s/\"']+(?=@)"
_PASSWORD = rf"(\bpassword[ \t]*=[ \t]*){_DONE}(?:'[^'\r\n]*'|[^\s'\"&]+)"
_QUERY = (
    r"([?&](?:access_token|refresh_token|id_token|token|api_?key|key|client_secret|secret|passwd|pwd"
    rf"|sig|signature|auth|code)=){_DONE}[^&\s#\"'<>]+"
)
_CODE = (
    r"(\b(?:one[ -]?time (?:code|password|passcode)|verification code|security code|login code"
    r"|[23]fa code|mfa code|otp|code de vérification|code à usage unique)\b"
    r"[ \t]*(?:is|est)?[ \t]*[:=]?[ \t]*)[0-9]{4,8}(?![0-9])"
)
_SHAPES: tuple[tuple[str, str, tuple[str, ...]], ...] = (
    ("authorization", _AUTHORIZATION, ("authorization",)),
    ("bearer", _BEARER, ("bearer",)),
    ("password", _URL_PASSWORD, ("://",)),
    ("password", _PASSWORD, ("password",)),
    ("token", _QUERY, ("token=", "key=", "secret=", "passwd=", "pwd=", "sig=", "ture=", "auth=", "code=")),
    ("code", _CODE, (" code", "otp", "time pass", "onetime", "code de", "code à")),
)
WORDS = tuple(sorted({word.encode() for _, _, words in _SHAPES for word in words}))
"""The words, lower case, at least one of which is in whatever is masked by shape, before the secret."""
_IN_TEXT = [
    (words, re.compile(shape, re.IGNORECASE | re.ASCII), rf"\1[masked:{name}]")
    for name, shape, words in _SHAPES
]
_IN_BYTES = [
    (tuple(map(str.encode, words)), re.compile(shape.encode(), re.IGNORECASE), rf"\1[masked:{name}]".encode())
    for name, shape, words in _SHAPES
]


def has_word(low: bytes) -> bool:
    """Is one of the words in these lower-case bytes?"""
    for word in WORDS:  # noqa: SIM110  this is asked of every chunk, and a generator costs five times as much
        if word in low:
            return True
    return False


def mask_text(text: str) -> str:
    """The text with every shape masked; the same object where there is none."""
    low = text.lower()
    for words, shape, mask in _IN_TEXT:
        for word in words:
            if word in low:
                text = shape.sub(mask, text)
                break
    return text


def mask_bytes(data: bytes) -> bytes:
    """As :func:`mask_text`, for UTF-8 (or any) bytes."""
    low = data.lower()
    if not has_word(low):
        return data
    for words, shape, mask in _IN_BYTES:
        if any(word in low for word in words):
            data = shape.sub(mask, data)
    return data
