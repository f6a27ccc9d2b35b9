"""Collecting a run without its launcher: the same steps as at a run's end, from what the run's folder says."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence

from rigline import liveness
from rigline.errors import UnknownHarness
from rigline.harness import get_harness
from rigline.harness.base import Harness, Store
from rigline.launch.collect import Collector
from rigline.launch.console import Console
from rigline.launch.folder import RunFolder, RunState
from rigline.ledger.base import Ledger
from rigline.readable import format_count


def collect_folders(home: str, folders: Sequence[str], say: Callable[[str], None], ledger: Ledger | None) -> int:
    """Collect each run; a run that fails stays and is said. Returns how many are done with."""
    from rigline.ledger.local import open_ledger

    opened = ledger or open_ledger(home)
    try:
        return sum(_collect_folder(RunFolder(path), opened, say) for path in folders)
    finally:
        if ledger is None:
            opened.close()


def _collect_folder(folder: RunFolder, ledger: Ledger, say: Callable[[str], None]) -> bool:
    try:
        with folder.lock() as is_ours:
            return is_ours and _collect_run(folder, ledger, say)
    except Exception as error:  # one run that cannot be collected must not make every command fail
        say(f"an interrupted run could not be collected yet ({error}); it is kept for the next command.")
        return False


def _collect_run(folder: RunFolder, ledger: Ledger, say: Callable[[str], None]) -> bool:
    state = folder.read_state()
    if state is None:
        folder.remove()
        return True
    harness = _get_harness(state.run.harness)
    store = harness.open_store({**os.environ, **state.store_env})
    collector = Collector(ledger, harness, store, folder, state, Console(quiet=True))
    is_alive = _is_child_alive(state, store, folder)
    if not is_alive:
        collector.set_child(None)
    collected = collector.finish()
    if collected.added:
        say(f"saved {format_count(collected.added, 'event')} of an interrupted {harness.label} run.")
    if is_alive:
        return False
    ledger.finish(state.run, None, None)
    folder.remove()
    return True


def _get_harness(name: str) -> Harness:
    try:
        return get_harness(name)
    except KeyError:
        raise UnknownHarness(f"the package that brought the harness {name!r} is not installed", harness=name) from None


def _is_child_alive(state: RunState, store: Store, folder: RunFolder) -> bool:
    """Whether the agent outlived its launcher. Where its pid was not kept any more, its environment or its session
    tells."""
    if state.child_pid is not None:
        return liveness.is_alive(state.child_pid, state.child_started)
    if liveness.is_carried("RIGLINE_RUN_DIR", folder.path):
        return True
    return state.expected_id is not None and store.find_live(state.expected_id) is not None
