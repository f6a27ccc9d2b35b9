"""Codex: what its command line means, how it is launched, and what its start hook says.

Observed with 0.120.0 and 0.171.0. The session store is in `codex_store`.
"""

from __future__ import annotations

import os
from collections.abc import Mapping

import msgspec

from rigline import paths
from rigline.harness.adapter import START_EVENT, GrammarAdapter
from rigline.harness.argv import Role, Token, find_subcommand, has_option
from rigline.harness.base import (
    Classification,
    Facts,
    HookDefinition,
    LaunchRequest,
    Mode,
    NativePlan,
    Observation,
    PacketLimits,
    Selector,
)
from rigline.harness.codex_files import find_home, normalise_id
from rigline.harness.codex_hooks import write_hooks, write_trust
from rigline.harness.codex_options import (
    BEFORE_RESUME,
    DAEMON,
    EXEC,
    GRAMMAR,
    WITHOUT_DAEMON,
    YOLO,
    find_permission,
    find_settings,
    is_without_our_hooks,
)
from rigline.harness.codex_store import CodexStore
from rigline.harness.codex_trust import find_trust
from rigline.harness.grammar import find_other_purpose, find_subcommands
from rigline.harness.session_variables import SESSION_VARIABLES


class Codex(GrammarAdapter):
    """The adapter of Codex. `cache_dir` is where answers about trust are kept; None: in rigline's data folder."""

    name = "codex"
    label = "Codex"
    grammar = GRAMMAR
    executable = "codex"
    headless: tuple[str, ...] = ("exec",)
    facts = Facts(
        store="`~/.codex/sessions/<date>/rollout-<time>-<id>.jsonl` (`CODEX_HOME`): JSON lines, append-only",
        resume="`resume ID`, `exec resume ID`, from any directory",
        chosen_id="",
        fork="`fork ID`",
        lineage="`forked_from_id` in the fork's first record",
        live="the process that has the rollout open (Linux)",
        yolo="`--dangerously-bypass-approvals-and-sandbox`",
        injection="a start hook given by `-c`, with the proof of trust that the program asks for; the session keeps it",
        takes=("messages", "tool calls and results", "compaction summaries", "titles", "subagents"),
        leaves_out=("reasoning", "attachments", "encrypted compactions", "the program's own notes"),
        cannot=("show history in 0.120.0, which takes no hook from a launch",),
        source="observed with 0.120.0 and 0.171.0",
    )
    #: each of four hooks answered 9,000 characters of any script and all arrived whole (0.171.0, `codex_trust`)
    limits = PacketLimits(part_chars=9000, max_parts=4)
    known_versions: tuple[str, ...] = ("0.120.0", "0.171.0")
    session_variables: tuple[str, ...] = SESSION_VARIABLES["codex"]
    store_variables: tuple[str, ...] = ("CODEX_HOME",)

    def __init__(self, cache_dir: str | None = None) -> None:
        self._cache_dir = cache_dir

    def classify(self, args: tuple[str, ...]) -> Classification:
        """See `Harness.classify`. `exec` and its alias are not interactive."""
        tokens = GRAMMAR.read(args)
        words = find_subcommands(tokens)
        interactive = not words or words[0] not in EXEC
        reason = _find_other_purpose(tokens, words)
        if reason:
            return Classification(mode=Mode.PASSTHROUGH, interactive=interactive, reason=reason)
        selector = _find_selector(args, tokens)
        # A resumed thread is written to even with --ephemeral (both versions).
        resumes = selector is not None and not selector.forks
        is_ephemeral = has_option(tokens, "--ephemeral") and not resumes
        return Classification(
            mode=Mode.SESSION,
            interactive=interactive,
            selector=selector,
            skips_persistence=is_ephemeral,
            cannot_resume=is_ephemeral,
            skips_hooks=is_without_our_hooks(tokens),
        )

    def plan(self, request: LaunchRequest) -> NativePlan:
        """See `Harness.plan`. Settings stand at the front, where both versions heed them for every subcommand."""
        if request.classification.mode is Mode.PASSTHROUGH:
            return NativePlan(args=request.args, expected_id=None)
        tokens = GRAMMAR.read(request.args)
        hooks, hook_notes = _plan_hooks(request)
        permission, permission_notes = _plan_permission(request, tokens)
        resume_id = None if request.classification.skips_persistence else request.resume_id
        args = _insert_resume(request.args, tokens, resume_id) if resume_id else request.args
        selector = request.classification.selector
        chosen_id = selector.native_id if selector is not None and not selector.forks else None
        return NativePlan(
            args=(*hooks, *_plan_daemon(request, tokens), *permission, *args),
            expected_id=resume_id or chosen_id,
            has_hooks=bool(hooks),
            notes=(*hook_notes, *permission_notes),
        )

    def open_store(self, env: Mapping[str, str]) -> CodexStore:
        """See `Harness.open_store`."""
        return CodexStore(find_home(env))

    def read_observation(self, payload: Mapping[str, object]) -> Observation | None:
        """What a SessionStart hook claims; `source` is startup, resume, clear, compact, or fork.

        A fork's carries its own id and path. Subagents have no such hook. In the terminal it runs with the first
        prompt, not at the launch (0.171.0).
        """
        return super().read_observation(payload) if payload.get("hook_event_name") == START_EVENT else None

    def write_hook_answer(self, text: str) -> str:
        """See `Harness.write_hook_answer`. The model gets it as a developer message (0.171.0)."""
        answer = {"hookSpecificOutput": {"hookEventName": START_EVENT, "additionalContext": text}}
        return msgspec.json.encode(answer).decode()

    def trust_hooks(
        self,
        definition: HookDefinition,
        executable: str,
        env: Mapping[str, str],
        cwd: str,  # noqa: ARG002  (the proof does not depend on the directory)
    ) -> HookDefinition:
        """The definition with one proof a command, or with none where the program gives none (0.120.0)."""
        cache_dir = self._cache_dir or os.path.join(paths.data_home(env), "cache")
        trust = find_trust(definition.commands, executable, env, cache_dir)
        return HookDefinition(commands=definition.commands, trust=trust)


def _find_other_purpose(tokens: tuple[Token, ...], words: list[str]) -> str:
    """Why the command line starts no session of this terminal and store, or an empty string."""
    reason = find_other_purpose(GRAMMAR, tokens, words)
    if not reason and words[1:] and words[1] in ("review", "help"):
        return f"`{words[0]} {words[1]}` is a utility command of Codex"
    return reason


def _find_selector(args: tuple[str, ...], tokens: tuple[Token, ...]) -> Selector | None:
    """The user's `resume` or `fork`. The id is known when it is a UUID in any form that the program accepts.

    A name, a picker, and `--last`, whose only word would be a prompt, leave it to the program. For an unknown
    name `exec resume` starts a fresh thread (both versions).
    """
    word = next((t for t in tokens if t.role is Role.SUBCOMMAND and t.value in ("resume", "fork")), None)
    if word is None or word.value is None:
        return None
    rest = [token for token in tokens if token.index > word.index]
    last = next((token for token in rest if token.role is Role.OPTION and token.option == "--last"), None)
    session = last or next((token for token in rest if token.role is Role.POSITIONAL), None)
    words = (word.value,) if session is None else (word.value, args[session.index])
    native_id = normalise_id(session.value or "") if session is not None and last is None else None
    return Selector(words=words, native_id=native_id, forks=word.value == "fork")


def _plan_hooks(request: LaunchRequest) -> tuple[tuple[str, ...], tuple[str, ...]]:
    if request.hooks is None or request.classification.skips_hooks:
        return (), ()
    if not request.hooks.trust:
        return (), ("this Codex takes no start hook from a launch; the line's history cannot be shown to it.",)
    return ("-c", write_hooks(request.hooks.commands), "-c", write_trust(request.hooks.trust)), ()


def _plan_daemon(request: LaunchRequest, tokens: tuple[Token, ...]) -> tuple[str, ...]:
    """Keep the terminal in its own process: a shared daemon has another run's environment, and outlives this one.

    Any setting on the command line does so already (0.171.0), but then the terminal warns. 0.120.0 ignores it.
    """
    is_chosen = has_option(tokens, "--remote", "--no-daemon") or DAEMON in find_settings(tokens)
    return () if is_chosen or not request.classification.interactive else WITHOUT_DAEMON


def _plan_permission(request: LaunchRequest, tokens: tuple[Token, ...]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """`--yolo` as the program's own option, or a note why it is left out. A narrower choice is never widened."""
    if not request.yolo or has_option(tokens, YOLO):
        return (), ()
    narrower = find_permission(tokens)
    if narrower:
        return (), (f"--yolo has no effect: the command line says {narrower}, which is kept as it is.",)
    return (YOLO,), ()


def _insert_resume(args: tuple[str, ...], tokens: tuple[Token, ...], native_id: str) -> tuple[str, ...]:
    """Put `resume ID` where the user's arguments stay in order and are accepted by both versions.

    The terminal's `resume` takes every option that the terminal takes. `exec resume` refuses some of `exec`'s, and
    several values for `--image`: those stay before the word, and a prompt that stands there is heeded all the same.
    """
    words = ("resume", native_id)
    if find_subcommand(tokens) not in EXEC:
        return (*words, *args)
    begin = place = 1 + next(token.index for token in tokens if token.role is Role.SUBCOMMAND)
    for number, token in enumerate(tokens):
        if token.role is Role.OPTION and token.index >= begin:
            end = _find_end(tokens, number)
            has_many = end - token.index > 2
            if has_many or token.option in BEFORE_RESUME:
                place, words = end, (*(WITHOUT_DAEMON if has_many else ()), "resume", native_id)
    return (*args[:place], *words, *args[place:])


def _find_end(tokens: tuple[Token, ...], number: int) -> int:
    """The place behind an option and its values."""
    end = tokens[number].index + 1
    for token in tokens[number + 1 :]:
        if token.role is not Role.VALUE:
            break
        end = token.index + 1
    return end
