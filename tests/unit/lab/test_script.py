"""The scripted model's answers, and that both wires carry the same conversation."""

from __future__ import annotations

import pytest
from lab import messages_wire, responses_wire
from lab.script import Message, Request, decide


def ask(*messages: Message) -> Request:
    """A request with these blocks and Claude Code's shell tool."""
    return Request(messages=list(messages), tools={"Bash"}, model="scripted", stream=True, wants_json=False)


@pytest.mark.parametrize(
    ("prompt", "text"),
    [
        ("say: hello", "hello"),
        ("hello", "echo: hello"),
        ("Remember this.\nsay: two lines", "two lines"),
        ("big: 5", "01234"),
        ("count:", "user=1 assistant=0"),
        ("recall: marigold", "recall marigold: no"),
    ],
)
def test_the_newest_prompt_decides_the_reply(prompt: str, text: str) -> None:
    assert decide(ask(Message("user", prompt))).text == text


def test_recall_looks_at_everything_but_the_prompt_itself() -> None:
    asked = Message("user", "recall: marigold")
    assert decide(ask(Message("developer", "the codeword is marigold"), asked)).text == "recall marigold: yes"
    assert decide(ask(Message("user", "say: marigold"), Message("assistant", "x"), asked)).text.endswith("yes")


def test_what_a_cli_injects_is_no_prompt() -> None:
    injected = Message("user", "<system-reminder>say: no</system-reminder>")
    assert decide(ask(Message("user", "say: yes"), injected)).text == "yes"


def test_a_tool_result_is_reported_once() -> None:
    result = Message("user", "first\nlast", "result")
    assert decide(ask(Message("user", "bash: ls"), result)).text == "tool said: last"
    assert decide(ask(Message("user", "bash: ls"), result, Message("user", "say: next"))).text == "next"


def test_both_wires_carry_the_same_conversation() -> None:
    anthropic = messages_wire.read_request(
        {
            "messages": [
                {"role": "user", "content": "say: one"},
                {"role": "assistant", "content": [{"type": "text", "text": "one"}]},
                {"role": "user", "content": [{"type": "text", "text": "count:"}]},
            ]
        }
    )
    openai = responses_wire.read_request(
        {
            "input": [
                {"role": "user", "content": [{"type": "input_text", "text": "say: one"}]},
                {"role": "assistant", "content": [{"type": "output_text", "text": "one"}]},
                {"role": "user", "content": [{"type": "input_text", "text": "count:"}]},
            ]
        }
    )
    assert anthropic.messages == openai.messages
    assert decide(anthropic).text == decide(openai).text == "user=2 assistant=1"
