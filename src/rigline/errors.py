"""Everything that rigline refuses or fails at, as one tree.

    RiglineError                    code            exit
    ├── UsageError                  usage             64
    │   ├── UnknownHarness          unknown_harness   64
    │   ├── HarnessBroken           harness_broken    64
    │   ├── UnknownWorkstream       unknown_workstream 64
    │   ├── WorkstreamExists        workstream_exists 64
    │   ├── AmbiguousId             ambiguous_id      64
    │   ├── NothingToContinue       nothing_to_continue 64
    │   ├── CheckoutGone            checkout_gone     64
    │   └── NoTerminal              no_terminal       64
    ├── ConfigError                 config            64
    ├── LedgerError                 ledger            69
    │   ├── LedgerUnreachable       ledger_unreachable 69
    │   ├── LedgerNewer             ledger_newer      69
    │   ├── LedgerCorrupt           ledger_corrupt    69
    │   └── RunSuperseded           run_superseded    69
    ├── LeaseHeld                   lease_held        75
    ├── SessionHeld                 session_held      75
    ├── HarnessNotFound             harness_not_found 127
    ├── HarnessNotExecutable        harness_not_executable 126
    ├── SessionUnreadable           session_unreadable 65
    ├── Interrupted                 interrupted       130
    └── InternalError               internal          70

Each message says what, which, why and the next step. `details` carries the same facts as data, so that
nobody has to match on words: it goes into the `error` object of `--json`.
"""

from __future__ import annotations


class RiglineError(Exception):
    """rigline could not do what was asked."""

    code = "error"
    exit_status = 70

    def __init__(self, message: str = "", **details: object) -> None:
        super().__init__(message or (type(self).__doc__ or "").strip())
        self.details = details

    def as_dict(self) -> dict[str, object]:
        """The error as `--json` shows it."""
        return {"code": self.code, "message": str(self), "exit_status": self.exit_status, **self.details}


def describe_cause(error: BaseException) -> str:
    """Why something failed, as briefly as it is known: for notices that say the rest themselves."""
    cause = error.details.get("cause") if isinstance(error, RiglineError) else None
    return str(cause or error) or type(error).__name__


class UsageError(RiglineError):
    """The command line cannot be understood."""

    code = "usage"
    exit_status = 64


class UnknownHarness(UsageError):
    """No harness has that name."""

    code = "unknown_harness"


class HarnessBroken(UsageError):
    """The adapter that a package brings for a harness cannot be used."""

    code = "harness_broken"


class UnknownWorkstream(UsageError):
    """No workstream of this checkout has that name or id."""

    code = "unknown_workstream"


class WorkstreamExists(UsageError):
    """A workstream of this checkout has that name already."""

    code = "workstream_exists"


class AmbiguousId(UsageError):
    """More than one thing begins with that id."""

    code = "ambiguous_id"


class NothingToContinue(UsageError):
    """There is nothing here yet that could be continued."""

    code = "nothing_to_continue"


class CheckoutGone(UsageError):
    """A line's checkout is not at its path any more."""

    code = "checkout_gone"


class NoTerminal(UsageError):
    """A person has to be asked, and there is no terminal for it."""

    code = "no_terminal"


class ConfigError(RiglineError):
    """A configuration file cannot be used."""

    code = "config"
    exit_status = 64


class LedgerError(RiglineError):
    """The ledger refused or failed."""

    code = "ledger"
    exit_status = 69


class LedgerUnreachable(LedgerError):
    """The ledger cannot be opened or reached."""

    code = "ledger_unreachable"


class LedgerNewer(LedgerError):
    """The ledger was written by a newer rigline."""

    code = "ledger_newer"


class LedgerCorrupt(LedgerError):
    """The ledger's database is damaged."""

    code = "ledger_corrupt"


class RunSuperseded(LedgerError):
    """Another run took this workstream over."""

    code = "run_superseded"


class LeaseHeld(RiglineError):
    """Another run is writing this workstream."""

    code = "lease_held"
    exit_status = 75


class SessionHeld(RiglineError):
    """Another live process has this native session open."""

    code = "session_held"
    exit_status = 75


class HarnessNotFound(RiglineError):
    """The harness's program is not installed here."""

    code = "harness_not_found"
    exit_status = 127


class HarnessNotExecutable(RiglineError):
    """The harness's program cannot be executed."""

    code = "harness_not_executable"
    exit_status = 126


class SessionUnreadable(RiglineError):
    """A native session is there but cannot be read."""

    code = "session_unreadable"
    exit_status = 65


class Interrupted(RiglineError):
    """Stopped by the user before the agent was started."""

    code = "interrupted"
    exit_status = 130


class InternalError(RiglineError):
    """rigline itself failed."""

    code = "internal"
    exit_status = 70
