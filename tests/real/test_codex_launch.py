"""The Codex adapter's plans, taken by the real programs: what is added to a command line does what it is for."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

import pytest
from lab.home import AgentHome
from lab.tmux import Tmux

from rigline.harness.base import HookDefinition, LaunchRequest, NativePlan
from rigline.harness.codex import Codex
from rigline.model import Presence
from tests.real.conftest import NEWEST, OLDEST, Agents, Done, Model, Rigline

newest = pytest.mark.parametrize("agents", [NEWEST], indirect=True, ids=["newest"])
oldest = pytest.mark.parametrize("agents", [OLDEST], indirect=True, ids=["oldest"])

HOOK = """
import json, os, sys
sys.stdin.read()
open(os.environ["HOOK_LOG"], "a").write(sys.argv[1] + " " + os.environ.get("RUN", "") + "\\n")
part = f"[rigline packet abcdefghij0123456789klmnop part {sys.argv[1]}/4]\\n"
text = part + os.environ.get("LETTER", "x") * (9000 - len(part) - 4) + "END" + sys.argv[1][0]
print(json.dumps({"hookSpecificOutput": {"hookEventName": "SessionStart", "additionalContext": text}}))
"""


@pytest.fixture
def hook(tmp_path: Path) -> Path:
    path = tmp_path / "the hook.py"
    path.write_text(HOOK)
    return path


@pytest.fixture
def codex(tmp_path: Path) -> Codex:
    return Codex(str(tmp_path / "cache"))


def define(hook: Path, parts: int = 4) -> HookDefinition:
    return HookDefinition(commands=tuple(f"'{sys.executable}' '{hook}' {part}" for part in range(1, parts + 1)))


def trust(codex: Codex, rigline: Rigline, agents: Agents, definition: HookDefinition) -> HookDefinition:
    return codex.trust_hooks(definition, agents.codex.path, rigline.env, rigline.cwd)


def plan(codex: Codex, args: tuple[str, ...], resume: str | None = None, **more: Any) -> NativePlan:
    return codex.plan(LaunchRequest(args=args, classification=codex.classify(args), resume_id=resume, **more))


def thread_of(done: Done) -> str:
    started = [json.loads(line) for line in done.ok().out.splitlines() if '"thread.started"' in line]
    return str(started[0]["thread_id"])


def last_context(rigline: Rigline, thread_id: str) -> dict[str, Any]:
    """What the newest turn of a thread ran with, from its rollout."""
    (path,) = Path(rigline.home.codex_dir, "sessions").rglob(f"*-{thread_id}.jsonl")
    records = [json.loads(line) for line in path.read_text().splitlines()]
    context: dict[str, Any] = [item["payload"] for item in records if item["type"] == "turn_context"][-1]
    return context


def begin(rigline: Rigline, agents: Agents) -> str:
    return thread_of(rigline.agent(agents.codex.path, "exec", "--json", "say: the codeword is marigold"))


@pytest.mark.parametrize(
    "args",
    [
        ("exec", "recall: marigold"),
        ("exec", "-C", "{cwd}", "-s", "read-only", "recall: marigold"),
        ("exec", "recall: marigold", "--color", "never", "--sandbox=read-only", "--json"),
        ("e", "--add-dir", "/tmp", "-m", "other", "--", "recall: marigold"),
        ("exec", "-i", "{png}", "{png}", "--", "recall: marigold"),
    ],
    ids=lambda args: " ".join(args),
)
def test_both_versions_take_resume_where_it_is_put(
    codex: Codex, rigline: Rigline, agents: Agents, model: Model, tmp_path: Path, args: tuple[str, ...]
) -> None:
    png = tmp_path / "a.png"
    png.write_bytes(PNG)
    thread_id = begin(rigline, agents)
    words = tuple(word.format(cwd=rigline.cwd, png=png) for word in args)
    planned = plan(codex, words, thread_id)
    rigline.agent(agents.codex.path, *planned.args).ok()
    assert "marigold" in str(model.conversation("recall: marigold").messages[:-1])
    if any("read-only" in word for word in args):
        assert last_context(rigline, thread_id)["sandbox_policy"]["type"] == "read-only"
    store = codex.open_store(rigline.env)
    assert [info.native_id for info in store.list_sessions(rigline.cwd, 9)] == [thread_id]


PNG = bytes.fromhex(
    "89504e470d0a1a0a0000000d49484452000000010000000108060000001f15c4890000000d49444154789c6364f8cf500f00038601"
    "8068d47d6a0000000049454e44ae426082"
)


@pytest.mark.parametrize("args", [("exec", "say: x"), ("exec", "--json", "say: x")], ids=["plain", "json"])
def test_yolo_lifts_the_sandbox_for_this_launch(
    codex: Codex, rigline: Rigline, agents: Agents, args: tuple[str, ...]
) -> None:
    thread_id = begin(rigline, agents)
    rigline.agent(agents.codex.path, *plan(codex, args, thread_id, yolo=True).args).ok()
    assert last_context(rigline, thread_id)["sandbox_policy"]["type"] == "danger-full-access"


@newest
def test_four_parts_arrive_whole_in_any_script_and_the_user_s_own_hooks_run_too(
    codex: Codex, rigline: Rigline, agents: Agents, model: Model, hook: Path, tmp_path: Path
) -> None:
    log = tmp_path / "hook.log"
    trust_own_hook(codex, rigline, agents, f"'{sys.executable}' '{hook}' 9-mine")
    config = Path(rigline.home.codex_dir, "config.toml").read_bytes()
    hooks = trust(codex, rigline, agents, define(hook))
    rigline.more.update({"HOOK_LOG": str(log), "LETTER": "\U0001f389", "RUN": "ours"})
    done = rigline.agent(agents.codex.path, *plan(codex, ("exec", "--json", "say: hello"), hooks=hooks).args)
    for args in (("exec", "say: again"), ("exec", "fork", thread_of(done), "say: forked")):
        resume = thread_of(done) if "fork" not in args else None
        rigline.agent(agents.codex.path, *plan(codex, args, resume, hooks=hooks).args).ok()
    assert sorted(log.read_text().split("\n")[:5]) == ["1 ours", "2 ours", "3 ours", "4 ours", "9-mine ours"]
    for prompt in ("say: hello", "say: again", "say: forked"):
        texts = developer_texts(model, prompt)
        for part in range(1, 5):
            (whole, *_) = [text for text in texts if f"part {part}/4]" in text]
            assert len(whole) == 9000
            assert whole.endswith(f"END{part}")
    assert Path(rigline.home.codex_dir, "config.toml").read_bytes() == config
    info = codex.open_store(rigline.env).look_up(thread_of(done), rigline.cwd).info
    assert info is not None
    packets = [packet for window in codex.open_store(rigline.env).read(info, None) for packet in window.packets]
    assert {part for _, part, _ in packets} == {1, 2, 3, 4}


def trust_own_hook(codex: Codex, rigline: Rigline, agents: Agents, command: str) -> None:
    """A start hook in the user's configuration, with the trust that the user gave it there."""
    path = Path(rigline.home.codex_dir, "config.toml")
    (entry,) = trust(codex, rigline, agents, HookDefinition(commands=(command,))).trust
    # The hash depends on the hook alone, which is written here as a launch gives it.
    text = path.read_text() + f'\n[[hooks.SessionStart]]\nhooks = [{{type="command",command={json.dumps(command)},'
    text += "timeout=20,additionalContextLimit=12000}]\n"
    digest = entry.rpartition("trusted_hash=")[2].rstrip("}")
    path.write_text(text + f'[hooks.state."{path}:session_start:0:0"]\ntrusted_hash = {digest}\n')


def developer_texts(model: Model, prompt: str) -> list[str]:
    bodies = [e.body for e in model.entries() if e.request and prompt in e.request.prompt and "input" in e.body]
    items = [item for item in bodies[-1]["input"] if item.get("role") == "developer"]
    return [part["text"] for item in items for part in item["content"]]


@newest
def test_asking_for_trust_leaves_the_user_s_home_as_it_was(
    codex: Codex, rigline: Rigline, agents: Agents, home: AgentHome, hook: Path
) -> None:
    before = sorted(os.walk(home.path))
    assert len(trust(codex, rigline, agents, define(hook)).trust) == 4
    assert sorted(os.walk(home.path)) == before


@oldest
def test_a_version_without_such_hooks_is_launched_without_them_and_that_is_said(
    codex: Codex, rigline: Rigline, agents: Agents, hook: Path
) -> None:
    hooks = trust(codex, rigline, agents, define(hook))
    planned = plan(codex, ("exec", "--json", "say: hello"), hooks=hooks)
    assert hooks.trust == ()
    assert len(planned.notes) == 1
    thread_id = thread_of(rigline.agent(agents.codex.path, *planned.args))
    assert codex.open_store(rigline.env).look_up(thread_id, rigline.cwd).presence is Presence.EXISTS


def test_a_terminal_stays_in_its_own_process_and_is_seen_live(
    codex: Codex, rigline: Rigline, agents: Agents, tmux: Tmux, hook: Path, tmp_path: Path
) -> None:
    config = Path(rigline.home.codex_dir, "config.toml")
    config.write_text(config.read_text().replace("daemon_auto_start = false\n", ""))
    thread_id = begin(rigline, agents)
    hooks = trust(codex, rigline, agents, define(hook, parts=1))
    planned = plan(codex, ("recall: marigold",), thread_id, hooks=hooks, yolo=True)
    log = tmp_path / "hook.log"
    pane = tmux.open_pane(
        [agents.codex.path, *planned.args], {**rigline.env, "HOOK_LOG": str(log), "RUN": "ours"}, rigline.cwd
    )
    pane.wait_for("recall marigold: yes")
    store = codex.open_store(rigline.env)
    live = store.find_live(thread_id)
    assert live is not None
    assert live.status == ""
    assert not Path(rigline.home.codex_dir, "packages").exists()
    assert log.exists() is bool(hooks.trust)
    assert last_context(rigline, thread_id)["sandbox_policy"]["type"] == "danger-full-access"
