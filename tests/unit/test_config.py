"""The marker file and the user's settings: what is taken, from where, and what is refused."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rigline.config import (
    DEFAULT_PACKET_TOKENS,
    MAX_FILE_BYTES,
    Settings,
    Value,
    find_marker,
    is_name,
    load_settings,
    make_name,
    read_marker,
)
from rigline.errors import ConfigError

HARNESSES = ("claude-code", "codex")


@pytest.fixture
def home(tmp_path: Path) -> Path:
    folder = tmp_path / "home"
    folder.mkdir()
    return folder


def load(home: Path, text: str | None = None, **env: str) -> Settings:
    if text is not None:
        (home / "config.toml").write_text(text)
    return load_settings({"HOME": str(home), "RIGLINE_HOME": str(home), **env}, HARNESSES)


def write_marker(folder: Path, content: str | bytes = "") -> str:
    path = folder / ".rigline.toml"
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return str(path)


def make_checkout(folder: Path) -> Path:
    (folder / ".git").mkdir(parents=True)
    return folder


# Where a marker is looked for


def test_the_nearest_marker_wins(home: Path) -> None:
    inner = home / "work" / "inner"
    inner.mkdir(parents=True)
    outer = write_marker(home / "work")
    assert find_marker(str(inner), str(home)) == outer
    nearer = write_marker(inner)
    assert find_marker(str(inner), str(home)) == nearer


def test_a_marker_in_the_home_itself_counts(home: Path) -> None:
    marker = write_marker(home)
    (home / "notes").mkdir()
    assert find_marker(str(home / "notes"), str(home)) == marker
    assert find_marker(str(home), str(home)) == marker


def test_a_marker_above_the_home_does_not_count(home: Path) -> None:
    write_marker(home.parent)
    (home / "notes").mkdir()
    assert find_marker(str(home / "notes"), str(home)) is None


def test_the_search_ends_at_the_checkouts_root(home: Path) -> None:
    checkout = make_checkout(home / "work" / "repo")
    (checkout / "src").mkdir()
    write_marker(home / "work")
    assert find_marker(str(checkout / "src"), str(home)) is None
    marker = write_marker(checkout)
    assert find_marker(str(checkout / "src"), str(home)) == marker


def test_a_linked_worktree_inside_another_checkout_is_a_checkout_of_its_own(home: Path) -> None:
    main = make_checkout(home / "repo")
    write_marker(main)
    linked = main / ".worktrees" / "a"
    linked.mkdir(parents=True)
    (linked / ".git").write_text("gitdir: elsewhere")
    assert find_marker(str(linked), str(home)) is None


def test_outside_home_and_checkout_only_the_directory_itself_counts(tmp_path: Path, home: Path) -> None:
    inner = tmp_path / "shared" / "inner"
    inner.mkdir(parents=True)
    write_marker(tmp_path / "shared")
    assert find_marker(str(inner), str(home)) is None
    marker = write_marker(inner)
    assert find_marker(str(inner), str(home)) == marker


def test_a_folder_whose_name_begins_like_the_home_is_not_inside_it(tmp_path: Path, home: Path) -> None:
    other = tmp_path / "home2" / "inner"
    other.mkdir(parents=True)
    write_marker(tmp_path / "home2")
    assert find_marker(str(other), str(home)) is None


# What a marker says


def test_a_marker_names_workspace_project_and_hub(tmp_path: Path) -> None:
    path = write_marker(tmp_path, 'workspace = "acme"\nproject = "web.site_2"\nhub = "https://hub.example"\n')
    marker = read_marker(path)
    assert (marker.path, marker.workspace, marker.project) == (path, "acme", "web.site_2")
    assert marker.hub == "https://hub.example"


def test_an_empty_marker_leaves_everything_open(tmp_path: Path) -> None:
    marker = read_marker(write_marker(tmp_path))
    assert (marker.workspace, marker.project, marker.hub) == (None, None, None)


def test_a_marker_may_have_a_byte_order_mark_and_windows_line_ends(tmp_path: Path) -> None:
    marker = read_marker(write_marker(tmp_path, b'\xef\xbb\xbfworkspace = "acme"\r\nproject = "p"\r\n'))
    assert (marker.workspace, marker.project) == ("acme", "p")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ('workspce = "a"', "workspce: there is no such key; did you mean 'workspace'"),
        ('zzz = "a"', r"zzz: there is no such key\. Known: workspace, project, hub\."),
        ("workspace = 3", "workspace: must be a text that is not blank, not 3"),
        ('workspace = " "', "workspace: must be a text"),
        ('project = "My Project"', "'My Project' is not a name: .*'my-project' would do"),
        ('project = "../up"', "'../up' is not a name: .*'up' would do"),
        ('project = "日本"', r"'日本' is not a name: .*at most\.$"),
        ('workspace = "' + "a" * 65 + '"', "is not a name"),
        ('workspace = "a"\nproject = \n', "not TOML: .*line 2"),
        ('workspace = "a"\nworkspace = "b"\n', "not TOML: .*line 2"),
        (b"workspace = '\xff'", "not TOML: .*can't decode"),
        ("[harness.codex]\nexecutable = '/tmp/evil'", "harness: there is no such key"),
        ("#" * (MAX_FILE_BYTES + 1), "larger than 64 KiB"),
        ("a = " + "[" * 5000 + "]" * 5000, "nested too deeply|there is no such key"),
    ],
)
def test_a_marker_that_is_not_understood_is_refused(tmp_path: Path, content: str | bytes, message: str) -> None:
    path = write_marker(tmp_path, content)
    with pytest.raises(ConfigError, match=message) as refusal:
        read_marker(path)
    assert str(refusal.value).startswith(path)
    assert refusal.value.details["path"] == path


def test_a_marker_of_the_greatest_size_is_read(tmp_path: Path) -> None:
    text = 'project = "p"\n'
    assert read_marker(write_marker(tmp_path, text + "#" * (MAX_FILE_BYTES - len(text)))).project == "p"


def test_a_pipe_in_the_markers_place_is_refused_at_once(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / ".rigline.toml")
    with pytest.raises(ConfigError, match="not a regular file"):
        read_marker(str(tmp_path / ".rigline.toml"))


def test_a_folder_in_the_markers_place_is_refused(tmp_path: Path) -> None:
    (tmp_path / ".rigline.toml").mkdir()
    with pytest.raises(ConfigError, match="not a regular file"):
        read_marker(str(tmp_path / ".rigline.toml"))


def test_a_dangling_link_in_the_markers_place_is_found_and_refused(home: Path) -> None:
    (home / ".rigline.toml").symlink_to("nowhere")
    path = find_marker(str(home), str(home))
    assert path is not None
    with pytest.raises(ConfigError, match="cannot be read: No such file"):
        read_marker(path)


# Names


@pytest.mark.parametrize(
    ("folder", "name"),
    [
        ("rigline", "rigline"),
        ("My Project", "my-project"),
        ("a  b!!c", "a-b-c"),
        (".dotfiles", "dotfiles"),
        ("web.site_2", "web.site_2"),
        ("Ünïcode", "n-code"),
        ("日本", "fallback"),
        ("", "fallback"),
        ("---", "fallback"),
        ("x" * 80, "x" * 64),
        ("x" * 63 + "-y", "x" * 63),
    ],
)
def test_a_name_is_made_from_a_folders(folder: str, name: str) -> None:
    assert make_name(folder, "fallback") == name


@given(st.text(max_size=100))
def test_every_folder_gives_a_name_and_a_name_stays_itself(folder: str) -> None:
    name = make_name(folder, "fallback")
    assert is_name(name)
    assert make_name(name, "other") in (name, name.rstrip("._-"))


@pytest.mark.parametrize("text", ["", "-a", ".a", "_a", "A", "a b", "a/b", "é", "a\n", "a" * 65])
def test_what_is_no_name(text: str) -> None:
    assert not is_name(text)


@pytest.mark.parametrize("text", ["a", "0", "a.b_c-d", "a-", "a" * 64])
def test_what_is_a_name(text: str) -> None:
    assert is_name(text)


# Settings


def test_without_a_file_everything_has_its_default(home: Path) -> None:
    settings = load(home)
    assert settings.packet_tokens == Value(DEFAULT_PACKET_TOKENS, "default")
    assert settings.when_busy == Value("ask", "default")
    assert settings.redact_patterns == settings.redact_allow == Value(())
    assert settings.executables == {}


def test_each_value_says_where_it_comes_from(home: Path) -> None:
    text = """
        packet_tokens = 100
        when_busy = "fail"
        [redaction]
        patterns = ["ACME-[0-9]+"]
        allow = ["EXAMPLE"]
        [harness.claude-code]
        executable = "~/bin/claude"
        [harness.codex]
        packet_tokens = 7
    """
    path = str(home / "config.toml")
    settings = load(home, text)
    assert settings.packet_tokens == Value(100, path)
    assert settings.when_busy == Value("fail", path)
    assert settings.redact_patterns == Value(("ACME-[0-9]+",), path)
    assert settings.redact_allow == Value(("EXAMPLE",), path)
    assert settings.executables == {"claude-code": Value(f"{home}/bin/claude", path)}
    assert settings.packet_tokens_for("codex") == Value(7, path)
    assert settings.packet_tokens_for("claude-code") == Value(100, path)


def test_the_environment_wins_over_the_file(home: Path) -> None:
    settings = load(
        home, 'packet_tokens = 100\nwhen_busy = "fail"', RIGLINE_PACKET_TOKENS="250", RIGLINE_WHEN_BUSY="wait"
    )
    assert settings.packet_tokens == Value(250, "RIGLINE_PACKET_TOKENS")
    assert settings.when_busy == Value("wait", "RIGLINE_WHEN_BUSY")


def test_a_blank_variable_counts_as_unset(home: Path) -> None:
    settings = load(home, "packet_tokens = 100", RIGLINE_PACKET_TOKENS=" ", RIGLINE_WHEN_BUSY="")
    assert (settings.packet_tokens.value, settings.when_busy.source) == (100, "default")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("packet_token = 1", "packet_token: there is no such key; did you mean 'packet_tokens'"),
        ("packet_tokens = 0", "packet_tokens: must be a whole number above 0, not 0"),
        ("packet_tokens = true", "packet_tokens: must be a whole number"),
        ("packet_tokens = 1.5", "packet_tokens: must be a whole number"),
        ('when_busy = "fial"', "when_busy: must be one of ask, wait, fail, not 'fial'; did you mean 'fail'"),
        ("redaction = 1", r"redaction: must be a table: \[redaction\]"),
        ("[redaction]\npatterns = 'x'", r"redaction\.patterns: must be a list of texts"),
        ("[redaction]\nallow = ['']", r"redaction\.allow: must be a list of texts"),
        ("[redaction]\npattern = []", r"redaction\.pattern: .*did you mean 'patterns'"),
        ("[harness.claud-code]", r"harness\.claud-code: .*did you mean 'claude-code'"),
        ("[harness]\ncodex = 'x'", r"harness\.codex: must be a table: \[harness\.codex\]"),
        ("[harness.codex]\nexecutable = 3", r"harness\.codex\.executable: must be a text"),
        ("[harness.codex]\nexecutible = '/x'", r"harness\.codex\.executible: .*did you mean 'executable'"),
        ("[harness.codex]\npacket_tokens = -1", r"harness\.codex\.packet_tokens: must be a whole number"),
    ],
)
def test_a_setting_that_is_not_understood_is_refused(home: Path, text: str, message: str) -> None:
    with pytest.raises(ConfigError, match=message) as refusal:
        load(home, text)
    assert str(refusal.value).startswith(f"{home}/config.toml: ")


@pytest.mark.parametrize(
    ("env", "message"),
    [
        ({"RIGLINE_PACKET_TOKENS": "many"}, "RIGLINE_PACKET_TOKENS must be a whole number above 0, not 'many'"),
        ({"RIGLINE_PACKET_TOKENS": "0"}, "RIGLINE_PACKET_TOKENS"),
        ({"RIGLINE_PACKET_TOKENS": "-5"}, "RIGLINE_PACKET_TOKENS"),
        ({"RIGLINE_PACKET_TOKENS": "²"}, "RIGLINE_PACKET_TOKENS"),
        ({"RIGLINE_PACKET_TOKENS": "9" * 5000}, "RIGLINE_PACKET_TOKENS"),
        ({"RIGLINE_WHEN_BUSY": "later"}, "RIGLINE_WHEN_BUSY must be one of ask, wait, fail, not 'later'"),
    ],
)
def test_a_variable_that_is_not_understood_is_refused(home: Path, env: dict[str, str], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        load(home, **env)
