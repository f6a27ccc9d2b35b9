"""What lists of lines show, which texts a filter finds, and how drift is told."""

from __future__ import annotations

import pytest

from rigline.model import UNKNOWN_STATUS, Checkpoint
from rigline.picking import (
    Line,
    Place,
    Standing,
    abbreviate_drift,
    build_words,
    choose_harness,
    describe_drift,
    describe_line,
    search_lines,
    tidy,
)

OLD, NEW = "a" * 40, "b" * 40
THEN = Checkpoint(at_ms=1, head=OLD, branch="main")


def make_line(name: str = "main", **fields: object) -> Line:
    values: dict[str, object] = {
        "id": f"id-{name}",
        "name": name,
        "workspace": "default",
        "project": "app",
        "cwd": "/src/app",
        "worktree_fingerprint": "tree",
        "active_ms": 0,
        **fields,
    }
    return Line(**values)  # type: ignore[arg-type]


LINES = [
    make_line("main", title="Fix the parser", words="Done.", cwd="/src/one"),
    make_line("docs", title="Über die Straße", words="see a.*b", cwd="/src/two"),
    make_line("解析", words="漢字を直す", cwd="/home/dev/Projekt"),
]


@pytest.mark.parametrize(
    ("typed", "names"),
    [
        ("", ["main", "docs", "解析"]),
        ("PARSER", ["main"]),
        ("doc", ["docs"]),
        ("done.", ["main"]),
        (".", ["main", "docs"]),
        ("a.*b", ["docs"]),
        (".*", ["docs"]),
        ("[", []),
        ("strasse", ["docs"]),
        ("ÜBER", ["docs"]),
        ("字を", ["解析"]),
        ("/home/dev/proj", ["解析"]),
        ("the parser", ["main"]),
        ("parser done", []),
        ("\\d", []),
    ],
)
def test_typed_letters_are_looked_for_as_they_are(typed: str, names: list[str]) -> None:
    assert [line.name for line in search_lines(LINES, typed)] == names


@pytest.mark.parametrize(
    ("text", "tidied"),
    [
        ("two\nlines\t and  blanks ", "two lines and blanks"),
        ("\x1b[31mred\x07", "[31mred"),
        ("heart ❤\ufe0f", "heart ❤"),
        ("hand 👍🏽", "hand 👍"),
        ("e\u0301", "é"),
        ("\u1112\u1161\u11ab", "한"),
    ],
)
def test_texts_are_made_fit_for_one_line_of_any_terminal(text: str, tidied: str) -> None:
    assert tidy(text) == tidied


@pytest.mark.parametrize(
    ("then", "standing", "told", "short"),
    [
        (THEN, Standing(place=Place.GONE), "its folder is gone", "gone"),
        (THEN, Standing(place=Place.NO_FOLDER), "what is at its path is no folder", "other"),
        (THEN, Standing(place=Place.OTHER), "another checkout is at its path now", "other"),
        (THEN, Standing(place=Place.SAME, now=THEN, missing=0, added=0), "as the last run left it", ""),
        (None, Standing(place=Place.SAME, now=Checkpoint(at_ms=2)), "nothing is known of its git state", ""),
        (None, Standing(place=Place.SAME, now=THEN, missing=0, added=0), "as the last run left it", ""),
        (
            THEN,
            Standing(place=Place.SAME, now=Checkpoint(at_ms=2, head=NEW, branch="main"), missing=0, added=1),
            "1 commit since",
            "+1",
        ),
        (
            THEN,
            Standing(
                place=Place.SAME,
                now=Checkpoint(at_ms=2, head=NEW, branch="fix", status_hash="x", paths=("a", "b"), paths_left_out=1),
                missing=2,
                added=12,
            ),
            "12 commits since, 2 commits missing, branch fix instead of main and 3 files changed",
            "+12 -2 *",
        ),
        (
            THEN,
            Standing(place=Place.SAME, now=Checkpoint(at_ms=2, head=NEW, branch="main")),
            "its last commit is not in the repository any more",
            "?",
        ),
        (
            Checkpoint(at_ms=1, head=OLD, branch="main", status_hash="x", paths=("a",)),
            Standing(
                place=Place.SAME,
                now=Checkpoint(at_ms=2, head=OLD, branch=None, status_hash="x", paths=("a",)),
                missing=0,
                added=0,
            ),
            "branch (none) instead of main and 1 file still changed",
            "*",
        ),
        (
            THEN,
            Standing(
                place=Place.SAME,
                now=Checkpoint(at_ms=2, head=OLD, branch="main", status_hash=UNKNOWN_STATUS),
                missing=0,
                added=0,
            ),
            "the state of its files is unknown",
            "",
        ),
    ],
)
def test_drift_is_told_in_words_and_in_short(
    then: Checkpoint | None, standing: Standing, told: str, short: str
) -> None:
    assert describe_drift(then, standing) == told
    assert abbreviate_drift(then, standing) == short


def test_the_harness_used_last_of_those_installed_goes_on() -> None:
    line = make_line(harnesses=("codex", "claude-code"))
    assert choose_harness(line, ("claude-code", "codex")) == "codex"
    assert choose_harness(line, ("claude-code",)) == "claude-code"
    assert choose_harness(line, ("pi",)) is None


def test_a_line_is_named_in_full_whatever_its_name_looks_like() -> None:
    line = make_line("--new")
    assert build_words(line, None) == ["run", "--workspace=default", "--project=app", "--workstream=--new"]
    assert build_words(line, "codex", yolo=True, fresh=True)[-3:] == ["--yolo", "--fresh", "codex"]


def test_a_line_as_json_has_no_drift_where_nobody_looked() -> None:
    line = make_line(words="Done.", speaker="agent", harnesses=("codex",), checkpoint=THEN)
    told = describe_line(line, None, ("codex",))
    assert told["drift"] is None
    assert told["last_words"] == {"speaker": "agent", "text": "Done."}
    assert (told["branch"], told["harness"], told["held_by"]) == ("main", "codex", None)
