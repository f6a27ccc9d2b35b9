"""The packet's way to the agent: made before the launch, put where the start hook finds it, recorded as offered."""

from __future__ import annotations

import fcntl
import os
import time

import msgspec
from msgspec import Struct

from rigline import ids
from rigline.harness import NAMES, get_harness
from rigline.harness.base import Harness, HookDefinition, HookEvent
from rigline.launch.folder import RunFolder, RunState
from rigline.ledger.base import Ledger, Unseen
from rigline.ledger.packet import Packet, build_packet
from rigline.model import Checkpoint, Delivery, RunRef

SEARCH_COMMAND = "rigline search WORDS"


class Offer(Struct, frozen=True, kw_only=True):
    """A packet for one session, and its delivery; both None when that session has seen everything."""

    packet: Packet | None = None
    delivery: Delivery | None = None

    @property
    def parts(self) -> int:
        """In how many hook answers the packet comes."""
        return len(self.packet.parts) if self.packet else 0


def make_offer(
    unseen: Unseen,
    harness: Harness,
    *,
    workstream: str,
    receiver_id: str | None,
    checkpoint: Checkpoint,
    budget_tokens: int,
) -> Offer:
    """The packet with what a session (None: a fresh one) has not seen. Pure but for the new delivery id."""
    delivery_id = ids.new_id()
    packet = build_packet(
        unseen,
        delivery_id=delivery_id,
        workstream=workstream,
        receiver=harness.label,
        limits=harness.limits,
        budget_tokens=budget_tokens,
        now_checkpoint=checkpoint,
        now_ms=checkpoint.at_ms,
        search_command=SEARCH_COMMAND,
    )
    if packet is None:
        return Offer()
    delivery = Delivery(id=delivery_id, native_id=receiver_id, parts=len(packet.parts), through=unseen.through)
    return Offer(packet=packet, delivery=delivery)


def write_answers(folder: RunFolder, offer: Offer, harness: Harness, *, below: str = "") -> None:
    """Put each part where the hook reads it, in the harness's own form."""
    for number, text in enumerate(offer.packet.parts if offer.packet else (), 1):
        folder.write(os.path.join(below, f"answer-{number}"), harness.write_hook_answer(text))


def write_hook_file(folder: RunFolder, offer: Offer, receivers: tuple[str, ...] | None) -> None:
    """Tell the hook whom the prepared packet is for: these session ids, or (None) whichever starts."""
    folder.write("hook.json", msgspec.json.encode({"receivers": receivers, "parts": offer.parts}).decode())


def define_hooks(parts: int, python: str, event: HookEvent) -> HookDefinition:
    """The hook's commands, one a part. Constant: what belongs to a run travels in the environment."""
    quoted = "'" + python.replace("'", "'\\''") + "'"
    return HookDefinition(
        commands=tuple(f"{quoted} -P -m rigline hook {event} --part {part}" for part in range(1, parts + 1))
    )


def answer_other_session(folder_path: str, native_id: str, part: int, *, may_be_new: bool = False) -> str:
    """The packet for a session that the person chose inside the harness. Called from the hook, in its own process.

    One that `may_be_new` gets none when it began since the launch: it was asked for to be empty.
    Parts are asked for at the same time: the first caller makes the packet, the others wait for its lock.
    """
    folder = RunFolder(folder_path)
    state = folder.read_state()
    if state is None or not native_id or "/" in native_id or (may_be_new and _is_new(state, native_id)):
        return ""
    below = f"other-{native_id}"
    with open(os.path.join(folder_path, "other.lock"), "a", encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not os.path.isdir(os.path.join(folder_path, below)):
            os.makedirs(os.path.join(folder_path, below), mode=0o700)
            _offer_other(folder, state, native_id, below)
    try:
        with open(os.path.join(folder_path, below, f"answer-{part}"), encoding="utf-8") as file:
            return file.read()
    except FileNotFoundError:
        return ""


def _is_new(state: RunState, native_id: str) -> bool:
    """Whether a session began since the launch. One that the store does not have yet did."""
    store = get_harness(state.run.harness).open_store({**os.environ, **state.store_env})
    info = store.look_up(native_id, state.scope.cwd).info
    return info is None or (info.started_ms or 0) >= state.since_ms


def _offer_other(folder: RunFolder, state: RunState, native_id: str, below: str) -> None:
    from rigline.config import load_settings
    from rigline.ledger.local import open_ledger
    from rigline.scope import take_checkpoint

    harness = get_harness(state.run.harness)
    ledger = open_ledger(os.path.dirname(os.path.dirname(folder.path)))
    try:
        unseen = ledger.get_unseen(state.run.workstream_id, harness.name, native_id)
        offer = make_offer(
            unseen,
            harness,
            workstream=ledger.get_workstream(state.run.workstream_id, None).name,
            receiver_id=native_id,
            checkpoint=take_checkpoint(state.scope.cwd, int(time.time() * 1000), env=os.environ),
            budget_tokens=load_settings(os.environ, NAMES).packet_tokens_for(harness.name).value,
        )
        record_offer(ledger, state.run, offer)
        write_answers(folder, offer, harness, below=below)
    finally:
        ledger.close()


def record_offer(ledger: Ledger, run: RunRef, offer: Offer) -> None:
    """Record the delivery, if there is one."""
    if offer.delivery is not None:
        ledger.offer(run, offer.delivery)
