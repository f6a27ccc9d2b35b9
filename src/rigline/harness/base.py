"""What an agent CLI's adapter promises. Decisions are pure; only store methods touch files, read-only."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from enum import StrEnum
from typing import Protocol

from msgspec import Struct

from rigline.model import LiveSession, Lookup, SessionInfo, Window


class Mode(StrEnum):
    """What a native command line is for."""

    SESSION = "session"
    PASSTHROUGH = "passthrough"


class Selector(Struct, frozen=True, kw_only=True):
    """A native argument of the user's that chooses a session.

    `native_id` is None when only the harness will know (a picker, `--continue`, a name). `forks` says that
    the session written to will be another one than `native_id`; `chosen_id` is the id it will then have, if given.
    `is_new` says that a session of that id begins where there is none.
    """

    words: tuple[str, ...]
    native_id: str | None = None
    forks: bool = False
    chosen_id: str | None = None
    is_new: bool = False


class Classification(Struct, frozen=True, kw_only=True):
    """What a native command line means.

    `forks` says that the session it goes on with, chosen by a selector or by rigline, is forked and not continued.
    `skips_persistence` marks runs that leave no transcript by request, `cannot_resume` those that begin anew for it.
    """

    mode: Mode
    interactive: bool
    selector: Selector | None = None
    forks: bool = False
    skips_persistence: bool = False
    cannot_resume: bool = False
    skips_hooks: bool = False
    reason: str = ""


class HookDefinition(Struct, frozen=True, kw_only=True):
    """The start hook as a launch gives it: one command a part, and what the vendor needs to trust them."""

    commands: tuple[str, ...]
    trust: tuple[str, ...] = ()


class Facts(Struct, frozen=True, kw_only=True):
    """A harness in words, for people: the rows of `rigline harnesses` and of the page made from it.

    Each is a short phrase that begins in lower case; an empty one says that there is no such thing. `store` says where
    sessions lie and in which form, `injection` how a packet reaches the model and whether the session keeps it, `fork`
    how it forks, `lineage` where that is recorded, `live` how an open session is known. `takes` and `leaves_out` are
    what the reader makes of a transcript; `cannot` what a person might expect in vain. `source` says what the facts
    come from: "observed with 1.6.0", or the public pages of a program that could not be run.
    """

    store: str
    resume: str
    chosen_id: str
    fork: str
    lineage: str
    live: str
    yolo: str
    injection: str
    takes: tuple[str, ...]
    leaves_out: tuple[str, ...]
    cannot: tuple[str, ...]
    source: str


class LaunchRequest(Struct, frozen=True, kw_only=True):
    """Everything that a launch plan depends on.

    `resume_id` is set only where the user has no selector. `fresh_id` is the id of the session that begins: a fresh
    one, or a fork whose id the user leaves open. `private_dir` is this run's own folder, for files that the plan asks
    to be written. `packet` holds the parts of the history to be shown, for harnesses that get it at the launch and not
    from a hook. `settings` is what `Harness.read_settings` found. `session_cwd` is the directory of the session that
    the user chose, where the store knows it.
    """

    args: tuple[str, ...]
    classification: Classification
    resume_id: str | None = None
    session_cwd: str | None = None
    fresh_id: str | None = None
    yolo: bool = False
    hooks: HookDefinition | None = None
    private_dir: str = ""
    packet: tuple[str, ...] = ()
    settings: dict[str, str] = {}


class NativePlan(Struct, frozen=True, kw_only=True):
    """The native arguments, variables for the child, and files to be written below the run's private folder before it.

    `expected_id` is the session id that the harness will use, or None when it has to be observed. `has_hooks` says that
    a hook is in it that names the session and can show the packet, `shows_packet` that the plan itself shows it.
    """

    args: tuple[str, ...]
    expected_id: str | None
    has_hooks: bool = False
    shows_packet: bool = False
    variables: dict[str, str] = {}
    files: dict[str, str] = {}
    notes: tuple[str, ...] = ()


class Observation(Struct, frozen=True, kw_only=True):
    """What a hook claimed about the session it ran in. A claim, to be checked against the store."""

    native_id: str
    source: str
    transcript_path: str | None = None
    cwd: str | None = None


class PacketLimits(Struct, frozen=True, kw_only=True):
    """How much one hook answer carries whole, and in how many answers a packet may come."""

    part_chars: int
    max_parts: int


class Store(Protocol):
    """The harness's own session store, seen through one environment. Never writes."""

    @property
    def root(self) -> str:
        """The store's folder."""

    def list_sessions(self, cwd: str | None, limit: int) -> list[SessionInfo]:
        """Main sessions whose recorded cwd is this very directory (None: every one), newest first.

        Subagents and archived ones are left out. A file that cannot be read is left out too.
        """

    def iter_sessions(self, cwd: str | None = None) -> Iterator[SessionInfo]:
        """All importable sessions, subagents and archived ones too, in no order, lazily."""

    def find_in_file(self, path: str) -> SessionInfo | None:
        """The session that a file holds, wherever the file lies, or None when it is none of this harness's."""

    def look_up(self, native_id: str, cwd: str) -> Lookup:
        """Whether the session is there, and would resume from `cwd`."""

    def find_live(self, native_id: str) -> LiveSession | None:
        """The running process that has the session open, or None."""

    def find_started(self, since_ms: int, cwd: str, pid: int | None) -> list[SessionInfo]:
        """Sessions born in `cwd` at or after `since_ms`; with `pid` only those that this process is seen to have open.

        Where that cannot be seen, there is none of a process.
        """

    def read(self, info: SessionInfo, cursor: str | None) -> Iterator[Window]:
        """The session from a cursor on, in windows of at most 400 events or 1 MiB of text.

        A cursor that no longer fits the file (rewritten, shorter, other path) starts from the beginning:
        events keep their identity, so nothing doubles. An incomplete last line is left for the next time.
        """

    def related(self, info: SessionInfo) -> list[SessionInfo]:
        """Sessions that belong to this one: its subagents, and a parent whose records it continues."""

    def find_usage_limit(self, info: SessionInfo) -> str | None:
        """The vendor's own words when the session's last turn ended at a usage limit; None when it did not.

        Only records that the harness writes for such an end count, never words in a conversation.
        """


class HookEvent(StrEnum):
    """When a harness asks our hook for the packet: at a session's start, or at the first prompt of one."""

    SESSION_START = "session-start"
    FIRST_PROMPT = "first-prompt"


class Harness(Protocol):
    """An agent CLI."""

    name: str
    label: str
    executable: str
    facts: Facts
    limits: PacketLimits
    hook_event: HookEvent
    #: the words that make it answer one prompt, which follows them, and end; empty where there is no such way
    headless: tuple[str, ...]
    known_versions: tuple[str, ...]
    #: variables that mark or name another agent's session; removed from every child's environment
    session_variables: tuple[str, ...]
    #: variables that move the store; a blank value counts as unset and is removed
    store_variables: tuple[str, ...]
    #: those of which a blank value is a choice, each with the value that says the same and takes its place
    blank_values: tuple[tuple[str, str], ...]

    def find_variant(self, args: tuple[str, ...]) -> str:
        """The harness that these arguments really start: another name where one program has stores that never meet."""

    def classify(self, args: tuple[str, ...]) -> Classification:
        """What these native arguments are for."""

    def find_options(self, args: tuple[str, ...]) -> frozenset[int]:
        """The indexes of the arguments that the harness would take for options: no values, no prompt words."""

    def new_native_id(self) -> str | None:
        """An id for a fresh session, where the harness lets the launcher choose it."""

    def read_store_variables(self, args: tuple[str, ...]) -> dict[str, str]:
        """What native arguments say of where the store is, as the variables that say the same."""

    def plan(self, request: LaunchRequest) -> NativePlan:
        """The final native arguments: the user's in order, with at most our additions. Pure."""

    def read_settings(self, env: Mapping[str, str], cwd: str) -> dict[str, str]:
        """The user's own settings that a private file or variable of the plan has to include, by the adapter's names.

        Reads files, changes none. A missing one is left out.
        """

    def open_store(self, env: Mapping[str, str]) -> Store:
        """The store that a child with this environment would use. Raises nothing; a missing folder is empty."""

    def read_observation(self, payload: Mapping[str, object]) -> Observation | None:
        """What a start hook's payload claims, or None when it is not one."""

    def write_hook_answer(self, text: str) -> str:
        """The start hook's standard output that makes the harness show `text` to the model."""

    def trust_hooks(
        self, definition: HookDefinition, executable: str, env: Mapping[str, str], cwd: str
    ) -> HookDefinition:
        """The definition with whatever proof of trust the vendor wants. May ask the program; touches no user file."""
