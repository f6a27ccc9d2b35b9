from __future__ import annotations

from hypothesis import example, given
from hypothesis import strategies as st

from rigline.ledger.redact import Redactor, cut, redact
from tests.unit.ledger import secret_samples as samples

SEPARATORS = [
    "",
    " ",
    "\n",
    "\\n",
    '"',
    "'",
    '\\"',
    ":",
    "=",
    ": ",
    ", ",
    "://",
    "@",
    "-",
    "_",
    ".",
    "/",
    "\\",
    "[",
    "]",
    "\x1b[0m",
]
FRAGMENTS = [
    *(secret for _, secret in samples.TOKENS),
    *(before for before, _, _, _ in samples.NAMED),
    *(secret for _, secret, _, _ in samples.NAMED),
    *samples.HARMLESS,
    *("[redacted:key]", "[redacted:", "password", "KEY", "token=", "eyJ", "sk-", "AKIA", "\ud83d", "\\u002d", "\\/"),
]
anything = st.text(st.characters(codec=None) | st.sampled_from("\ud800\udfff\x00\u0301"))
composed = st.lists(st.sampled_from(FRAGMENTS) | st.sampled_from(SEPARATORS) | anything, max_size=12).map("".join)


@given(st.one_of(anything, composed))
@example("AKIA" + samples.make(16, samples.UPPER) + "ghp" + "_" + samples.make(36))
def test_redacting_twice_changes_nothing_more(text: str) -> None:
    once, _ = redact(text)
    assert redact(once) == (once, {})


@given(st.one_of(anything, composed))
def test_any_text_is_redacted_without_an_error_and_can_be_stored(text: str) -> None:
    redacted, counts = redact(text)
    redacted.encode()
    assert sum(counts.values()) <= redacted.count("[redacted:")


@given(
    st.text(st.characters(codec="utf-8"), max_size=200),
    st.sampled_from(samples.TOKENS),
    st.text(st.characters(codec="utf-8"), max_size=200),
)
def test_a_token_on_a_line_of_its_own_never_survives(before: str, token: tuple[str, str], after: str) -> None:
    redacted, counts = redact(f"{before}\n{token[1]}\n{after}")
    assert token[1] not in redacted
    assert counts


@given(composed, st.sampled_from(["x+", "[a-z]{3}", r"\pL", "."]))
def test_a_users_pattern_keeps_redaction_stable(text: str, pattern: str) -> None:
    redactor = Redactor(extra=(pattern,))
    once, _ = redactor.redact(text)
    assert redactor.redact(once) == (once, {})


@given(anything, st.integers(0, 300))
def test_a_cut_keeps_its_limit_and_the_order(text: str, limit: int) -> None:
    short, was_cut = cut(text, limit)
    assert len(short) <= max(limit, 0) if was_cut else short == text
    if was_cut and "characters left out" not in text and "characters left out" in short:
        head, tail = short.partition("\n[... ")[0], short.rpartition(" ...]\n")[2]
        assert text.startswith(head)
        assert text.endswith(tail)
