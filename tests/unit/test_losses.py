"""Losses are told in words, the gravest first."""

from __future__ import annotations

from rigline.losses import add_up, describe_losses


def test_sums_are_by_kind() -> None:
    assert add_up([{"a": 1, "b": 2}, {}, {"a": 3}]) == {"a": 4, "b": 2}


def test_secrets_stand_together_with_their_families() -> None:
    told = describe_losses({"redacted:github_token": 2, "redacted:jwt": 5, "truncated": 1})
    assert told == ["7 secrets replaced (jwt 5, github token 2)", "1 record that was cut off in the file"]


def test_one_and_several_are_told_apart_and_the_most_frequent_comes_first() -> None:
    assert describe_losses({"text_cut": 1, "glued": 2}) == [
        "2 records recovered from glued lines",
        "1 text cut at its limit",
    ]


def test_a_kind_without_words_is_told_by_its_name_without_control_characters() -> None:
    assert describe_losses({"some_new\x1bkind": 3}) == ["3 some new kind"]


def test_attachments_and_unknown_kinds_are_told_by_what_they_are() -> None:
    assert describe_losses({"attachment_image": 2, "unknown:new-record": 1}) == [
        "2 attached images left out",
        "1 record of an unknown kind (new-record)",
    ]


def test_nothing_lost_is_nothing_told() -> None:
    assert describe_losses({"truncated": 0}) == []
