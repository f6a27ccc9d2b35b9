"""What Codex's command lines mean, and how rigline adds to them. The forms are those that both real versions take."""

from __future__ import annotations

import pytest

from rigline.harness.base import Classification, HookDefinition, LaunchRequest, Mode, NativePlan
from rigline.harness.codex import Codex

ID = "01a22e72-04b5-79a3-baea-cb5f3f1db17b"
HOOKS = HookDefinition(commands=("hook 1", "hook 2"), trust=('"k:0"={trusted_hash="h0"}', '"k:1"={trusted_hash="h1"}'))
HOOK = "timeout=20,additionalContextLimit=12000"
BOTH = f'{{type="command",command="hook 1",{HOOK}}},{{type="command",command="hook 2",{HOOK}}}'
FRONT = (
    "-c",
    f"hooks.SessionStart=[{{hooks=[{BOTH}]}}]",
    "-c",
    'hooks.state={"k:0"={trusted_hash="h0"},"k:1"={trusted_hash="h1"}}',
)
ALONE = ("-c", "features.daemon_auto_start=false")
UTILITIES = (
    "agents app-server archive cloud completion debug delete doctor exec-server execpolicy features login logout mcp"
    " mcp-server migrate-nfs-db migrate-rollouts plugin queue remote-control responses-api-proxy sandbox stdio-to-uds"
    " unarchive update"
)
YOLO = "--dangerously-bypass-approvals-and-sandbox"


def classify(line: str) -> Classification:
    return Codex().classify(tuple(line.split()))


def plan(
    line: str | tuple[str, ...], resume: str | None = None, *, yolo: bool = False, hooks: HookDefinition | None = None
) -> NativePlan:
    args = tuple(line.split()) if isinstance(line, str) else line
    codex = Codex()
    request = LaunchRequest(args=args, classification=codex.classify(args), resume_id=resume, yolo=yolo, hooks=hooks)
    return codex.plan(request)


@pytest.mark.parametrize(
    "line",
    [
        "--help",
        "-V",
        "exec --json -h",
        "exec resume --help",
        "help exec",
        "exec help",
        "exec help resume",
        "exec review",
        "exec a-prompt review",
        "review --uncommitted",
        "a 17",
        "apply 17",
        "-m gpt mcp list",
        "a-prompt login",
        *UTILITIES.split(),
    ],
)
def test_help_versions_and_utilities_pass_through(line: str) -> None:
    assert classify(line).mode is Mode.PASSTHROUGH
    assert classify(line).reason


@pytest.mark.parametrize(
    ("line", "interactive"),
    [
        ("", True),
        ("a-prompt", True),
        ("-i a.png login", True),
        ("-- login", True),
        ("-m gpt exec a-prompt", False),
        ("e a-prompt", False),
        ("exec -- help", False),
        ("exec -o help a-prompt", False),
        ("resume", True),
        ("exec resume --last", False),
    ],
)
def test_sessions_are_told_from_everything_else(line: str, interactive: bool) -> None:
    assert (classify(line).mode, classify(line).interactive) == (Mode.SESSION, interactive)


@pytest.mark.parametrize(
    ("line", "words", "native_id", "forks"),
    [
        ("resume", ("resume",), None, False),
        (f"resume {ID}", ("resume", ID), ID, False),
        (f"resume {ID.upper()}", ("resume", ID.upper()), ID, False),
        (f"exec resume {ID.replace('-', '')} go", ("resume", ID.replace("-", "")), ID, False),
        (f"exec resume urn:uuid:{ID}", ("resume", f"urn:uuid:{ID}"), ID, False),
        (f"exec resume {{{ID}}}", ("resume", f"{{{ID}}}"), ID, False),
        ("resume my-thread", ("resume", "my-thread"), None, False),
        ("resume --last", ("resume", "--last"), None, False),
        (f"exec resume --last {ID}", ("resume", "--last"), None, False),
        (f"exec resume -m gpt {ID} go", ("resume", ID), ID, False),
        (f"exec resume -i a.png {ID} go", ("resume", ID), ID, False),
        (f"exec -s read-only a-prompt resume {ID}", ("resume", ID), ID, False),
        (f"fork {ID}", ("fork", ID), ID, True),
        (f"e fork {ID} go", ("fork", ID), ID, True),
        ("fork --last", ("fork", "--last"), None, True),
    ],
)
def test_selectors_are_found(line: str, words: tuple[str, ...], native_id: str | None, forks: bool) -> None:
    selector = classify(line).selector
    assert selector is not None
    assert (selector.words, selector.native_id, selector.forks) == (words, native_id, forks)


@pytest.mark.parametrize(
    "line", ["", "exec resum x", "-- resume", "exec -- resume", "-i a.png resume", "exec -m resume x"]
)
def test_words_that_only_look_like_selectors_are_none(line: str) -> None:
    assert classify(line).selector is None


@pytest.mark.parametrize(
    ("line", "skips"),
    [
        ("exec --ephemeral x", True),
        (f"exec fork --ephemeral {ID} x", True),
        (f"exec resume --ephemeral {ID} x", False),
        ("exec -o --ephemeral", True),
        ("exec -- --ephemeral", False),
    ],
)
def test_only_fresh_and_forked_ephemeral_runs_leave_no_transcript(line: str, skips: bool) -> None:
    assert classify(line).skips_persistence is skips


@pytest.mark.parametrize(
    ("args", "skips"),
    [
        (("-c", "hooks.SessionStart=[]"), True),
        (("exec", "--config=hooks.state={}", "x"), True),
        (("-c", 'hooks."SessionStart"=[]'), True),
        (("-c", "hooks={}"), True),
        (("--disable", "hooks"), True),
        (("-c", "features.hooks = false"), True),
        (("--remote", "unix://"), True),
        (("-c", "hooks.PreToolUse=[]"), False),
        (("-c", "features.hooks=true"), False),
        (("-c", "model=hooks"), False),
        (("--", "-c", "hooks={}"), False),
    ],
)
def test_settings_that_would_replace_our_hook_are_seen(args: tuple[str, ...], skips: bool) -> None:
    assert Codex().classify(args).skips_hooks is skips


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("", f"resume {ID}"),
        ("go on -m gpt", f"resume {ID} go on -m gpt"),
        ("-s read-only -C /x go", f"resume {ID} -s read-only -C /x go"),
        ("-i a.png b.png -- go", f"resume {ID} -i a.png b.png -- go"),
        ("-- resume", f"resume {ID} -- resume"),
        ("exec go", f"exec resume {ID} go"),
        ("e --json go", f"e resume {ID} --json go"),
        ("-m gpt exec go", f"-m gpt exec resume {ID} go"),
        ("exec -C /x go", f"exec -C /x resume {ID} go"),
        ("exec -C/x --json go", f"exec -C/x resume {ID} --json go"),
        ("exec --cd=/x -s ro -m gpt go", f"exec --cd=/x -s ro resume {ID} -m gpt go"),
        ("exec go --json -s ro -o out", f"exec go --json -s ro resume {ID} -o out"),
        ("exec go --color never -- ", f"exec go --color never resume {ID} --"),
        ("exec -p work --oss --add-dir /y -", f"exec -p work --oss --add-dir /y resume {ID} -"),
        ("exec --output-schema f go", f"exec --output-schema f resume {ID} go"),
        ("exec -i a.png -C /x go", f"exec -i a.png -C /x resume {ID} go"),
        ("exec -C /x -i a.png -- go", f"exec -C /x resume {ID} -i a.png -- go"),
        ("exec -i a.png b.png -- go", f"exec -i a.png b.png -c features.daemon_auto_start=false resume {ID} -- go"),
    ],
)
def test_resume_stands_where_both_versions_take_it(line: str, expected: str) -> None:
    args = plan(line, ID).args
    own = expected.split()
    assert args == ((*ALONE, *own) if args[: len(ALONE)] == ALONE else tuple(own))
    assert plan(line, ID).expected_id == ID


def test_nothing_is_added_to_a_fresh_exec() -> None:
    planned = plan("exec --json go")
    assert (planned.args, planned.expected_id) == (("exec", "--json", "go"), None)


def test_an_ephemeral_run_is_not_made_a_resumed_one() -> None:
    planned = plan("exec --ephemeral go", ID)
    assert (planned.args, planned.expected_id) == (("exec", "--ephemeral", "go"), None)


@pytest.mark.parametrize(
    ("line", "expected"),
    [(f"resume {ID} go", ID), (f"fork {ID}", None), ("resume --last", None), ("resume name", None)],
)
def test_a_user_s_selector_stays_and_tells_the_id_only_if_it_names_it(line: str, expected: str | None) -> None:
    planned = plan(line, None)
    assert planned.args == (*ALONE, *line.split())
    assert planned.expected_id == expected


def test_hooks_stand_at_the_very_front() -> None:
    assert plan("exec go", ID, hooks=HOOKS).args == (*FRONT, "exec", "resume", ID, "go")
    assert plan("go", hooks=HOOKS).args == (*FRONT, *ALONE, "go")


def test_hooks_without_trust_are_left_out_and_that_is_said() -> None:
    planned = plan("exec go", hooks=HookDefinition(commands=("hook",)))
    assert planned.args == ("exec", "go")
    assert len(planned.notes) == 1


def test_the_user_s_own_hooks_win() -> None:
    planned = plan(("-c", "hooks.SessionStart=[]", "exec", "go"), hooks=HOOKS)
    assert planned.args == ("-c", "hooks.SessionStart=[]", "exec", "go")


@pytest.mark.parametrize(
    "line", ["--no-daemon", "--remote unix://", "--enable daemon_auto_start", "-c features.daemon_auto_start=true"]
)
def test_a_user_s_choice_about_the_daemon_is_kept(line: str) -> None:
    assert plan(line).args == tuple(line.split())


@pytest.mark.parametrize(("line", "front"), [("go", (*ALONE, YOLO)), ("exec go", (YOLO,))])
def test_yolo_stands_where_every_subcommand_heeds_it(line: str, front: tuple[str, ...]) -> None:
    assert plan(line, yolo=True).args == (*front, *line.split())


@pytest.mark.parametrize("line", [f"exec {YOLO} go", "exec --yolo go"])
def test_yolo_is_not_said_twice(line: str) -> None:
    planned = plan(line, yolo=True)
    assert (planned.args, planned.notes) == (tuple(line.split()), ())


@pytest.mark.parametrize(
    "line",
    [
        "exec -s read-only go",
        "exec -sread-only go",
        "exec --sandbox=read-only go",
        "-a on-request exec go",
        "exec --full-auto go",
        "exec --approve-for-me go",
        "exec -c sandbox_mode=read-only go",
        "exec -c approval_policy=never go",
        "exec -c sandbox_workspace_write.network_access=true go",
    ],
)
def test_yolo_never_widens_a_user_s_own_choice(line: str) -> None:
    planned = plan(line, yolo=True)
    assert planned.args == tuple(line.split())
    assert len(planned.notes) == 1


def test_what_passes_through_is_not_touched() -> None:
    assert plan("login status", ID, yolo=True, hooks=HOOKS).args == ("login", "status")


def test_options_are_told_from_values_and_prompts() -> None:
    args = ("exec", "--yolo", "-o", "--yolo", "fix --yolo", "--", "--yolo")
    assert Codex().find_options(args) == {1, 2, 3}


def test_a_start_hook_s_payload_is_a_claim_and_any_other_is_none() -> None:
    codex = Codex()
    payload = {
        "hook_event_name": "SessionStart",
        "session_id": ID,
        "source": "fork",
        "transcript_path": "/t",
        "cwd": "/w",
    }
    claim = codex.read_observation(payload)
    assert claim is not None
    assert (claim.native_id, claim.source, claim.transcript_path, claim.cwd) == (ID, "fork", "/t", "/w")
    assert codex.read_observation({**payload, "hook_event_name": "Stop"}) is None
    assert codex.read_observation({**payload, "session_id": None}) is None
    assert codex.read_observation({}) is None


def test_codex_chooses_its_ids_itself() -> None:
    assert Codex().new_native_id() is None
