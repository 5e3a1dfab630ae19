from __future__ import annotations

import base64
import json
from urllib.parse import quote, quote_plus

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from schedcore.domain.masking import Masker, MaskStream

SECRET = 's3cr/et+pa ss"wörd'  # what a person might really choose
MASKER = Masker({"DB": SECRET, "TOKEN": "ghp_abcdEFGH1234567890", "PIN": "123"})


def fed(stream: MaskStream, data: bytes, sizes: list[int]) -> bytes:
    out, at = [], 0
    for size in sizes:
        out.append(stream.feed(data[at : at + size]))
        at += size
    out += [stream.feed(data[at:]), stream.flush()]
    return b"".join(out)


@pytest.mark.parametrize(
    "written",
    [
        SECRET,
        json.dumps(SECRET),
        json.dumps(SECRET, ensure_ascii=False),
        quote(SECRET),
        quote(SECRET, safe=""),
        quote_plus(SECRET),
        quote(SECRET, safe="").lower().replace("pa%20ss", "pa%20ss"),
        base64.b64encode(SECRET.encode()).decode(),
        base64.urlsafe_b64encode(SECRET.encode()).decode(),
        *(base64.b64encode(b"u" * n + b":" + SECRET.encode() + b"!tail").decode() for n in range(6)),
    ],
)
def test_threat_T12_a_secret_is_masked_however_it_is_written(written: str):
    done = MASKER.text(f"before {written} after")

    assert "[masked:DB]" in done
    assert SECRET not in done
    assert done.startswith("before ")
    assert done.endswith(" after")
    assert MASKER.data(f"before {written} after".encode()).decode() == done


def test_a_mask_names_the_secret():
    assert MASKER.text("use ghp_abcdEFGH1234567890!") == "use [masked:TOKEN]!"


def test_a_value_under_four_characters_is_left_alone():
    assert MASKER.text("room 123, floor 1234") == "room 123, floor 1234"


def test_the_longer_of_two_values_wins():
    masker = Masker({"A": "abcd", "B": "abcdefgh"})

    assert masker.text("abcdefgh abcd abcdef") == "[masked:B] [masked:A] [masked:A]ef"


def test_each_long_line_of_a_key_file_is_masked_too():
    key = "-----BEGIN KEY-----\nMIIBVgIBADANBgkqhkiG\nshort\n9w0BAQEFAASCAUAwggE8\n-----END KEY-----"
    masker = Masker({"KEY": key})

    assert masker.text(key) == "[masked:KEY]"
    assert masker.text("x MIIBVgIBADANBgkqhkiG y") == "x [masked:KEY] y"
    assert masker.text("-----BEGIN KEY----- short") == "-----BEGIN KEY----- short"


def test_a_text_without_secrets_is_the_same_object():
    text = "an ordinary line, code 7, see https://example.org/a?b=c"

    assert MASKER.text(text) is text
    assert Masker().text(text) is text


def test_a_masker_is_widened_into_a_new_one():
    wider = MASKER.with_values({"NEW": "brand-new-value"})

    assert wider.text("brand-new-value ghp_abcdEFGH1234567890") == "[masked:NEW] [masked:TOKEN]"
    assert MASKER.text("brand-new-value") == "brand-new-value"
    assert wider.with_values({"NEW": "brand-new-value"}) is wider


SHAPES = [
    ("Authorization: Bearer abcd1234", "Authorization: Bearer [masked:authorization]"),
    ('{"authorization": "Basic dTpw"}', '{"authorization": "Basic [masked:authorization]"}'),
    ("sent bearer eyJhbGciOi.J9x-_abc1", "sent bearer [masked:bearer]"),
    ("postgresql://app:p4ss%2Fword@db/x", "postgresql://app:[masked:password]@db/x"),
    ("host=db password=hunter2 user=x", "host=db password=[masked:password] user=x"),
    ("password='two words' x", "password=[masked:password] x"),
    ("GET /a?x=1&access_token=abc&y=2", "GET /a?x=1&access_token=[masked:token]&y=2"),
    ("https://h/p?sig=a%20b#top", "https://h/p?sig=[masked:token]#top"),
    ("Your verification code is 123456.", "Your verification code is [masked:code]."),
    ("OTP: 4821", "OTP: [masked:code]"),
    ("one-time password 99881122", "one-time password [masked:code]"),
    ("Votre code de vérification : 123456", "Votre code de vérification : [masked:code]"),
]


@pytest.mark.parametrize(("text", "masked"), SHAPES)
def test_what_looks_like_a_secret_is_masked(text: str, masked: str):
    assert Masker().text(text) == masked
    assert Masker().data(text.encode()).decode() == masked
    assert Masker().text(masked) == masked


@pytest.mark.parametrize(
    "text",
    [
        "the bearer of this letter",
        "bearer certificates-everywhere-now",
        "exit code 137",
        "exit code: 1234",
        "error code 40123",
        "http://localhost:8080/a@b",
        "git@host:path/x",
        "please set a password before",
        "the token= part is missing",
        "authorization: required by policy",
        "order 123456 verified",
        "otpauth 1234",
    ],
)
def test_ordinary_text_is_left_alone(text: str):
    assert Masker().text(text) == text
    assert Masker().data(text.encode()) == text.encode()


pieces = st.sampled_from(
    [b"ghp_abcdEFGH1234567890", b"ghp_abcd", b"abcd", b"abcdefgh", b"efgh", b"a", b"\n", b" ", b"x" * 50,
     b"\xff\xfe", SECRET.encode(), SECRET.encode()[:5], b"bearer ", b"abcdefgh12345678", b"password=",
     b"?token=", b"OTP: 1234 ", b"://u:", b"p@h", b"code", b"\r", base64.b64encode(b"ab" + SECRET.encode())]
)  # fmt: skip


@settings(max_examples=600, deadline=None)
@given(st.lists(pieces, max_size=12).map(b"".join), st.lists(st.integers(0, 20), max_size=30))
def test_threat_T12_chunks_mask_as_the_whole_does(data: bytes, sizes: list[int]):
    masker = Masker({"DB": SECRET, "TOKEN": "ghp_abcdEFGH1234567890", "A": "abcd", "B": "abcdefgh"})

    assert fed(masker.stream(), data, sizes) == masker.data(data)


@given(st.lists(st.integers(1, 3), max_size=40))
def test_a_secret_comes_through_no_border_of_chunks(sizes: list[int]):
    done = fed(MASKER.stream(), f"a {SECRET} b".encode(), sizes)

    assert done == b"a [masked:DB] b"


def test_ordinary_output_is_shown_at_once():
    stream = MASKER.stream()

    assert stream.feed(b"step 1 of 3\n") == b"step 1 of 3\n"
    assert stream.feed(b"working ...") == b"working ..."
    assert stream.flush() == b""


def test_only_what_may_be_the_start_of_a_secret_is_held_back():
    stream = Masker({"T": "ghp_abcdEFGH"}).stream()

    assert stream.feed(b"x=ghp_abc") == b"x="
    assert stream.feed(b"zzz") == b"ghp_abczzz"


def test_a_line_with_a_telling_word_is_held_until_it_ends_and_no_longer_than_4_kib():
    stream = Masker().stream()

    assert stream.feed(b"a password=hun") == b""
    assert stream.feed(b"ter2\nnew") == b"a password=[masked:password]\nnew"
    assert stream.feed(b" password=" + b"x" * 5_000) != b""


def test_a_stream_may_learn_a_secret_on_the_way():
    stream = Masker().stream()
    shown = stream.feed(b"late-secret\n")

    stream.use(Masker({"S": "late-secret"}))

    assert shown == b"late-secret\n"
    assert stream.feed(b"late-secret\n") == b"[masked:S]\n"


def test_bytes_that_are_no_text_pass():
    assert fed(MASKER.stream(), b"\xff\xfe\x00\x80" * 100, [3] * 50) == b"\xff\xfe\x00\x80" * 100
