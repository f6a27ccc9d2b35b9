from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from rigline.errors import ConfigError
from rigline.ledger.redact import Redactor, cut, redact
from tests.unit.ledger import secret_samples as samples

SURROUNDINGS = ["{}", "see {} here", '"{}"', "x={}\n", "\\n{}\\n", "\x1b[32m{}\x1b[0m", "\u4e2d\u6587 {} \U0001f600"]


@pytest.mark.parametrize(("family", "secret"), samples.TOKENS, ids=lambda value: value[:24])
@pytest.mark.parametrize("surrounding", SURROUNDINGS)
def test_a_known_shape_is_found_wherever_it_stands(family: str, secret: str, surrounding: str) -> None:
    assert redact(surrounding.format(secret)) == (surrounding.format(f"[redacted:{family}]"), {family: 1})


@pytest.mark.parametrize(
    ("before", "secret", "after", "family"), samples.NAMED, ids=[f"{a}{b}"[:40] for a, b, _, _ in samples.NAMED]
)
def test_a_named_secret_is_found_and_nothing_around_it(before: str, secret: str, after: str, family: str) -> None:
    assert redact(before + secret + after) == (f"{before}[redacted:{family}]{after}", {family: 1})


@pytest.mark.parametrize("text", samples.HARMLESS, ids=lambda text: text[:40])
def test_what_is_no_secret_stays(text: str) -> None:
    assert redact(text) == (text, {})
    assert redact(f"first line\n    {text}\nlast line")[1] == {}


def test_the_family_of_a_shape_wins_over_the_name() -> None:
    token = "ghp" + "_" + samples.make(36)
    assert redact(f"GITHUB_TOKEN={token}") == ("GITHUB_TOKEN=[redacted:github]", {"github": 1})


def test_an_environment_dump_keeps_its_names_and_loses_its_values() -> None:
    dump = f"HOME=/root\nA_KEY={samples.make(20)}\nB_TOKEN={samples.hexes(40)}\nTERM=xterm\nDB_PASSWORD=pw1234\n"
    assert redact(dump) == (
        "HOME=/root\nA_KEY=[redacted:key]\nB_TOKEN=[redacted:token]\nTERM=xterm\nDB_PASSWORD=[redacted:password]\n",
        {"key": 1, "token": 1, "password": 1},
    )


def test_a_service_account_file_loses_its_key_only() -> None:
    form = '{{"type": "service_account", "private_key_id": "x", "private_key": "{}\\n", "client_id": "1"}}'
    text, expected = form.format(samples.ESCAPED_PEM), form.format("[redacted:private-key]")
    assert redact(text) == (expected, {"private-key": 1})


@pytest.mark.parametrize("prefix", ["    ", "+", "> ", "| "])
def test_a_key_is_found_in_diffs_and_listings(prefix: str) -> None:
    block = "\n".join(prefix + line for line in samples.PEM.split("\n"))
    text, counts = redact(f"{block}\nafter")
    assert counts == {"private-key": 1}
    assert text.endswith("\nafter")
    assert not any(line in text for line in samples.PEM.split("\n"))


def test_a_key_is_found_with_line_numbers() -> None:
    text, counts = redact(samples.NUMBERED_PEM)
    assert counts == {"private-key": 1}
    assert samples.PEM.split("\n")[3] not in text


@pytest.mark.parametrize("cut_at", [200, 130, 60])
def test_a_key_without_its_end_or_beginning_is_found(cut_at: int) -> None:
    for half in (samples.PEM[:-cut_at], samples.PEM[cut_at:], samples.ESCAPED_PEM[:-cut_at]):
        text, counts = redact(f"first\n{half}")
        assert counts == {"private-key": 1}
        assert text == "first\n[redacted:private-key]"


def test_two_keys_are_two() -> None:
    assert (
        redact(f"{samples.PEM}\nand\n{samples.make_key()}\n")[0]
        == "[redacted:private-key]\nand\n[redacted:private-key]\n"
    )


@pytest.mark.parametrize("slashes", ["\\", "\\\\"])
def test_a_secret_spelled_with_escapes_is_found(slashes: str) -> None:
    token = "sk-" + "ant-api03-" + samples.make(40)
    spelled = token.replace("-", f"{slashes}u002d").replace("s", f"{slashes}u0073", 1)
    assert redact(f'"{spelled}" left') == ('"[redacted:anthropic]" left', {"anthropic": 1})
    assert redact(f"api_key{slashes}u003d{samples.RANDOM}{slashes}u0026x")[1] == {"key": 1}


def test_text_without_secrets_is_the_same_object() -> None:
    text = "nothing here"
    assert redact(text)[0] is text


def test_lone_surrogates_become_replacement_characters() -> None:
    assert redact("a\ud83db \ud83d\ude00") == ("a\ufffdb \U0001f600", {})
    assert redact("\udc00 DB_PASSWORD=hunter2") == ("\ufffd DB_PASSWORD=[redacted:password]", {"password": 1})


def test_a_users_pattern_is_redacted_and_counted_as_custom() -> None:
    redactor = Redactor(extra=(r"corp-[0-9]{6}", r"(?i)projekt \pL+"))
    assert redactor.redact("corp-123456 Projekt \u00c4nderung") == (
        "[redacted:custom] [redacted:custom]",
        {"custom": 2},
    )


def test_a_users_pattern_never_redacts_a_mark() -> None:
    redactor = Redactor(extra=(r"redacted|key",))
    once, _ = redactor.redact("a key, DB_PASSWORD=hunter2")
    assert once == "a [redacted:custom], DB_PASSWORD=[redacted:password]"
    assert redactor.redact(once) == (once, {})


def test_an_allowed_text_stays() -> None:
    redactor = Redactor(allow=("dummy",))
    text = "DB_PASSWORD=dummy-pw-1 OTHER_PASSWORD=hunter2"
    assert redactor.redact(text) == ("DB_PASSWORD=dummy-pw-1 OTHER_PASSWORD=[redacted:password]", {"password": 1})


@pytest.mark.parametrize("pattern", ["(unclosed", "(?=ahead)x", r"(a)\1", "x*", ""])
def test_an_unusable_pattern_is_named(pattern: str) -> None:
    with pytest.raises(ConfigError) as caught:
        Redactor(extra=("fine", pattern))
    assert repr(pattern) in str(caught.value)
    assert caught.value.details["pattern"] == pattern


ADVERSARIES = [
    "eyJ-", "sk-", "token=", 'token="', "token='x\\", "://a:", "://", "-----BEGIN PRIVATE KEY-----\n",
    "-----END PRIVATE KEY-----\n", "Authorization: ", "Cookie: a=", "Bearer a", "1:AA", ".abcdef.", "--token ",
    "password: a = ", "AKIA-", '"key": "', "\\u0073", "xoxb-1-", "login a password ", " -u a:b", "KEY=\\", "SG.a.",
]  # fmt: skip


@pytest.mark.parametrize("piece", ADVERSARIES)
def test_time_grows_with_the_text_and_not_with_its_square(piece: str) -> None:
    redact("warm up KEY=0123456789")
    short, long = (_time_redaction(piece * (size // len(piece))) for size in (30_000, 240_000))
    assert long < 24 * short + 0.5


def _time_redaction(text: str) -> float:
    start = time.perf_counter()
    redact(text)
    return time.perf_counter() - start


def test_threads_share_a_redactor() -> None:
    redactor = Redactor()
    texts = [f"DB_PASSWORD=hunter{n} and more" for n in range(64)]
    with ThreadPoolExecutor(8) as pool:
        results = list(pool.map(redactor.redact, texts))
    assert {text for text, _ in results} == {"DB_PASSWORD=[redacted:password] and more"}


# cut


def test_a_short_text_is_not_cut() -> None:
    assert cut("abc", 3) == ("abc", False)


def test_a_cut_keeps_head_and_tail_and_counts_the_rest() -> None:
    text, was_cut = cut("a" * 500 + "b" * 500, 200)
    assert was_cut
    assert len(text) <= 200
    head, note, tail = text.split("\n")
    assert note == f"[... {1000 - len(head) - len(tail)} characters left out ...]"
    assert (set(head), set(tail)) == ({"a"}, {"b"})
    assert len(head) > len(tail) > 40


@pytest.mark.parametrize("limit", [0, 1, 5, 30, 45])
def test_a_cut_to_almost_nothing_keeps_the_limit(limit: int) -> None:
    assert len(cut("x" * 100, limit)[0]) <= limit


@pytest.mark.parametrize(
    "cluster", ["e\u0301", "\U0001f468\u200d\U0001f469", "\U0001f44d\U0001f3fd", "\u2764\ufe0f", "\ud83d\ude00"]
)
def test_a_cut_keeps_together_what_belongs_together(cluster: str) -> None:
    for limit in range(60, 60 + 2 * len(cluster)):
        head, _, tail = cut(cluster * 100, limit)[0].split("\n")
        assert head == cluster * (len(head) // len(cluster))
        assert tail == cluster * (len(tail) // len(cluster))


def test_redacting_first_leaves_no_half_secret() -> None:
    token = "sk-" + "ant-api03-" + samples.make(90)
    text = cut(redact("x" * 60 + token + "y" * 400)[0], 130)[0]
    assert token[12:24] not in text
