"""The extension that shows a packet in Pi, and in OMP, which runs Pi's extensions unchanged (1.6.0, 18.2.3).

Before a session's first prompt of the run it asks the start hook, and puts the answer before the prompt as a message
that the session keeps. Where the program tells of no input, as OMP does of a prompt on its command line, the message
can only be kept behind the prompt; the model is sent it before the prompt all the same, in that run.
It says `clear` of a session that the person asked for inside the program, since that is to be empty.
A hook that fails or takes too long leaves the prompt as it is.
"""

from __future__ import annotations

from rigline.harness.base import LaunchRequest
from rigline.harness.javascript import write_asking_module
from rigline.harness.pi_store import OWN_TYPE

FILE = "extension/rigline.mjs"


def plan_extension(request: LaunchRequest) -> tuple[tuple[str, ...], dict[str, str]]:
    """The option and the file. It is loaded beside those of the user, also with `--no-extensions`."""
    if request.hooks is None:
        return (), {}
    text = write_asking_module(request.hooks.commands, _BODY, OWN_TYPE=OWN_TYPE)
    return ("-e", f"{request.private_dir}/{FILE}"), {FILE: text}


#: Pi loads the file anew at `/reload` and for each session that replaces another one. Then the hook, which answers
#: only a session's first asking, knows what was shown, and a variable of the process why the session began. OMP keeps
#: it loaded, and tells of another session by `session_switch`.
_BODY = """\
const sources = {new: 'clear', resume: 'resume', fork: 'fork'};
const began = Symbol.for('rigline.source');

function isPrompt(message) {
  return message.role === 'user' || message.role === 'developer';
}

export default function (pi) {
  const asked = new Set();
  function begin(event) {
    const reason = event && event.reason;
    if (reason !== 'reload') globalThis[began] = sources[reason] || 'startup';
  }
  pi.on('session_start', async event => begin(event));
  pi.on('session_switch', async event => begin(event));
  async function find(ctx) {
    const id = ctx.sessionManager.getSessionId();
    if (asked.has(id)) return undefined;
    asked.add(id);
    const path = ctx.sessionManager.getSessionFile();
    const payload = {session_id: id, transcript_path: path, cwd: ctx.cwd, source: globalThis[began] || 'startup'};
    const texts = await askHooks(payload);
    return texts.length ? {customType: OWN_TYPE, content: texts.join('\\n\\n'), display: false} : undefined;
  }
  pi.on('input', async (event, ctx) => {
    if (event.streamingBehavior === undefined && event.source !== 'extension') {
      const message = await find(ctx);
      if (message) await pi.sendMessage(message);
    }
    return {action: 'continue'};
  });
  pi.on('before_agent_start', async (event, ctx) => {
    const message = await find(ctx);
    return message && {message};
  });
  pi.on('context', async event => {
    const messages = [...event.messages];
    let prompt = -1;
    let isMoved = false;
    messages.forEach((message, place) => {
      if (message.role === 'assistant') prompt = -1;
      else if (prompt < 0 && isPrompt(message)) prompt = place;
      else if (prompt >= 0 && message.customType === OWN_TYPE) {
        messages.splice(place, 1);
        messages.splice(prompt, 0, message);
        prompt += 1;
        isMoved = true;
      }
    });
    return isMoved ? {messages} : undefined;
  });
}
"""
