"""One repository is one, whichever way its URL is written, and no secret of a URL is kept."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rigline.remotes import choose_urls, find_local_path, identify, strip_repository_suffix

SAME = [
    "https://github.com/ann/app",
    "https://github.com/ann/app.git",
    "https://github.com/ann/app/",
    "https://github.com/ann/app.git/",
    "https://github.com//ann//app.git",
    "https://GitHub.COM/ann/app",
    "https://github.com./ann/app",
    "https://github.com:443/ann/app",
    "https://github.com:/ann/app",
    "HTTPS://github.com/ann/app",
    "http://github.com:80/ann/app.git",
    "https://ann@github.com/ann/app",
    "https://ann:ghp_secret@github.com/ann/app.git",
    "https://ann:p@ss@github.com/ann/app.git",
    "https://x-access-token:ghs_secret@github.com/ann/app",
    "https://github.com/ann/%61pp",
    "ssh://git@github.com/ann/app.git",
    "ssh://git@github.com:22/ann/app.git",
    "git+ssh://git@github.com/ann/app.git",
    "ssh+git://git@github.com/ann/app.git",
    "git://github.com:9418/ann/app.git",
    "git@github.com:ann/app.git",
    "git@github.com:/ann/app.git",
    "github.com:ann/app",
    "ann@[github.com:22]:ann/app",
    "https::https://github.com/ann/app",
    "gcrypt::git@github.com:ann/app.git",
]


@pytest.mark.parametrize("url", SAME)
def test_all_ways_to_write_one_repository_are_one(url: str) -> None:
    assert find_local_path(url) is None
    assert identify(url) == "github.com/ann/app"


@pytest.mark.parametrize(
    ("url", "identity"),
    [
        ("https://github.com/ann/App", "github.com/ann/App"),
        ("https://github.com/bob/app", "github.com/bob/app"),
        ("https://gitlab.com/ann/app", "gitlab.com/ann/app"),
        ("ssh://git@host:2222/ann/app", "host:2222/ann/app"),
        ("ssh://git@host:443/ann/app", "host:443/ann/app"),
        ("[git@host:2222]:ann/app", "host:2222/ann/app"),
        ("ssh://git@[2001:DB8::1]:22/app.git", "[2001:db8::1]/app"),
        ("ssh://git@[2001:db8::1]:2222/app.git", "[2001:db8::1]:2222/app"),
        ("git@[2001:db8::1]:app.git", "[2001:db8::1]/app"),
        ("git@github-work:ann/app", "github-work/ann/app"),
        ("https://host/ann/app.github", "host/ann/app.github"),
        ("https://host/ann/.git", "host/ann"),
        ("https://host/~ann/app", "host/~ann/app"),
        ("file://server/share/app", "server/share/app"),
        ("https://host", "host"),
    ],
)
def test_different_repositories_stay_apart(url: str, identity: str) -> None:
    assert find_local_path(url) is None
    assert identify(url) == identity


@pytest.mark.parametrize(
    ("url", "path"),
    [
        ("/srv/git/app.git", "/srv/git/app.git"),
        ("../app", "../app"),
        ("app", "app"),
        ("./host:app", "./host:app"),
        ("/srv/a:b", "/srv/a:b"),
        ("file:///srv/git/app.git", "/srv/git/app.git"),
        ("file://localhost/srv/git/app.git", "/srv/git/app.git"),
        ("file:///srv/my%20app", "/srv/my app"),
        (":app", ":app"),
    ],
)
def test_a_path_on_this_machine_is_told_from_a_host(url: str, path: str) -> None:
    assert find_local_path(url) == path


@pytest.mark.parametrize(
    "path", ["/srv/app", "/srv/app/", "/srv/app.git", "/srv/app.git/", "/srv/app/.git", "/srv/app/.git/"]
)
def test_the_forms_that_git_completes_by_itself_are_one_path(path: str) -> None:
    assert strip_repository_suffix(path) == "/srv/app"


HOST = st.from_regex(r"[a-z][a-z0-9]{0,8}(\.[a-z]{2,5}){1,2}", fullmatch=True)
PATH = st.from_regex(r"[A-Za-z0-9_]{1,8}(/[A-Za-z0-9_]{1,8}){0,3}", fullmatch=True)
SECRET = st.from_regex(r"[A-Za-z0-9_@:%-]{20,30}", fullmatch=True)


@given(HOST, PATH, SECRET)
def test_no_credential_is_kept_and_every_form_is_equal(host: str, path: str, secret: str) -> None:
    urls = [
        f"https://{host}/{path}",
        f"https://me:{secret}@{host.upper()}/{path}.git",
        f"ssh://{secret}@{host}:22/{path}/",
        f"me@{host}:{path}.git",
    ]
    assert {identify(url) for url in urls} == {f"{host}/{path}"}


@given(st.text(max_size=60))
def test_any_text_at_all_is_taken(url: str) -> None:
    assert find_local_path(url) is not None or isinstance(identify(url), str)


@pytest.mark.parametrize(
    ("settings", "urls"),
    [
        ([], []),
        ([("remote.origin.url", "a"), ("remote.fork.url", "b")], ["a"]),
        ([("remote.origin.url", "a"), ("remote.origin.url", "b")], ["a", "b"]),
        ([("remote.origin.url", "a"), ("remote.origin.url", ""), ("remote.origin.url", "b")], ["b"]),
        ([("remote.fork.url", "a"), ("remote.up.stream.url", "b")], ["a", "b"]),
        ([("remote.origin.fetch", "x"), ("remote.fork.url", "b")], ["b"]),
        ([("remote.origin.url", " a ")], ["a"]),
        (
            [("remote.origin.url", "gh:ann/app"), ("url.https://github.com/.insteadof", "gh:")],
            ["https://github.com/ann/app"],
        ),
        (
            [
                ("url.short/.insteadof", "g"),
                ("url.long/.insteadof", "gh:"),
                ("url.never/.insteadof", ""),
                ("remote.origin.url", "gh:app"),
            ],
            ["long/app"],
        ),
    ],
)
def test_the_urls_that_git_would_fetch_from_are_chosen(settings: list[tuple[str, str]], urls: list[str]) -> None:
    assert choose_urls(settings) == urls
