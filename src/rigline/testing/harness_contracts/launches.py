"""How a command line is read and planned."""

from __future__ import annotations

from msgspec import structs

from rigline.harness.base import HookDefinition, LaunchRequest, Mode
from rigline.testing.harness_contracts.case import HarnessCase, expect


def a_plan_keeps_the_user_s_arguments(case: HarnessCase) -> None:
    """All of them, in order, whatever is added; and what passes through is not touched at all."""
    for args in case.command_lines:
        for request in _build_requests(case, args):
            plan = case.harness.plan(request)
            left = iter(plan.args)
            expect(all(word in left for word in args), f"{args} became {plan.args}")
            if request.classification.mode is Mode.PASSTHROUGH:
                expect(plan.args == args and not plan.files, f"{args} became {plan.args}")


def _build_requests(case: HarnessCase, args: tuple[str, ...]) -> list[LaunchRequest]:
    """The launches of a command line: without a session of ours, and with one where the user chose none."""
    classification = case.harness.classify(args)
    plain = LaunchRequest(
        args=args,
        classification=classification,
        yolo=True,
        hooks=HookDefinition(commands=("hook --part 1", "hook --part 2")),
        private_dir="/private",
    )
    if classification.mode is Mode.PASSTHROUGH or classification.selector is not None:
        return [plain]
    fresh_id = case.harness.new_native_id()
    return [plain, structs.replace(plain, resume_id=case.unknown_id), structs.replace(plain, fresh_id=fresh_id)]


CONTRACTS = (a_plan_keeps_the_user_s_arguments,)
