"""What adapters have in common: the answers of a harness that has nothing special about it."""

from __future__ import annotations

from collections.abc import Mapping

from rigline.harness.base import Classification, HookDefinition, HookEvent, Observation
from rigline.harness.grammar import Grammar, classify, find_options

START_EVENT = "SessionStart"


class Adapter:
    """Base of adapters. Every method may be overridden; the promises are those of `Harness`."""

    name: str
    hook_event = HookEvent.SESSION_START
    headless: tuple[str, ...] = ()
    blank_values: tuple[tuple[str, str], ...] = ()

    def find_variant(self, args: tuple[str, ...]) -> str:  # noqa: ARG002
        """Itself: one program, one store."""
        return self.name

    def new_native_id(self) -> str | None:
        """None: the harness chooses its ids itself."""
        return None

    def read_store_variables(self, args: tuple[str, ...]) -> dict[str, str]:  # noqa: ARG002
        """None: no argument moves the store."""
        return {}

    def read_settings(self, env: Mapping[str, str], cwd: str) -> dict[str, str]:  # noqa: ARG002
        """None: nothing of the user's is in the way of the plan."""
        return {}

    def read_observation(self, payload: Mapping[str, object]) -> Observation | None:
        """A payload in Claude Code's form, which several harnesses and all extensions of ours use."""
        native_id = find_text(payload, "session_id")
        if not native_id:
            return None
        return Observation(
            native_id=native_id,
            source=find_text(payload, "source") or "",
            transcript_path=find_text(payload, "transcript_path"),
            cwd=find_text(payload, "cwd"),
        )

    def write_hook_answer(self, text: str) -> str:
        """The text itself, as extensions of ours want it."""
        return text

    def trust_hooks(
        self,
        definition: HookDefinition,
        executable: str,  # noqa: ARG002
        env: Mapping[str, str],  # noqa: ARG002
        cwd: str,  # noqa: ARG002
    ) -> HookDefinition:
        """The definition itself: nothing has to be trusted."""
        return definition


class GrammarAdapter(Adapter):
    """Base of adapters whose command line a table describes."""

    grammar: Grammar

    def classify(self, args: tuple[str, ...]) -> Classification:
        """See `Harness.classify`."""
        return classify(self.grammar, args)

    def find_options(self, args: tuple[str, ...]) -> frozenset[int]:
        """See `Harness.find_options`."""
        return find_options(self.grammar, args)


def find_text(payload: Mapping[str, object], name: str) -> str | None:
    """A field that holds a text which is not empty."""
    value = payload.get(name)
    return value if isinstance(value, str) and value else None
