"""The plugin that a launch gives to OpenCode: it asks our hook at a session's first prompt of a run. Pure.

`chat.message` may change a prompt before it is stored, so that the answer becomes a part of the prompt, marked as not
typed (1.18.33). A plugin is named in the configuration, which `OPENCODE_CONFIG_CONTENT` may add to: lists of plugins
from several places are joined.
"""

from __future__ import annotations

from urllib.parse import quote

import msgspec

from rigline.harness.javascript import write_asking_module

VARIABLE = "OPENCODE_CONFIG_CONTENT"
PLUGIN_FILE = "rigline-opencode-plugin.js"

#: a fault of ours, or a session that cannot be looked up, must never keep a prompt
_BODY = """\
const LOOKUP_MS = 2000
const began = Date.now()
const asked = new Set()

async function describe(client, id) {
  const late = new Promise((resolve) => setTimeout(resolve, LOOKUP_MS, {}))
  const found = client.session.get({ path: { id } }).then((answer) => answer.data ?? {}, () => ({}))
  return Promise.race([found, late])
}

export const Rigline = async ({ client, directory }) => ({
  "chat.message": async (input, output) => {
    try {
      const id = input.sessionID
      if (asked.has(id)) return
      asked.add(id)
      const session = await describe(client, id)
      if (session.parentID) return
      const source = (session.time?.created ?? began) >= began ? "startup" : "resume"
      const answers = await askHooks({ session_id: id, cwd: session.directory ?? directory, source })
      const own = output.parts[0]?.id ?? "prt_000000000000"
      const parts = answers.map((text, place) => ({
        // parts are read in the order of their ids: these come before the prompt's own
        id: own.slice(0, 16) + String(place).padStart(14, "0"),
        sessionID: id,
        messageID: output.message.id,
        type: "text",
        text,
        synthetic: true,
      }))
      output.parts.unshift(...parts)
    } catch {}
  },
})
"""


def write_plugin(commands: tuple[str, ...]) -> str:
    """The plugin's source: JavaScript that runs each command and adds what it prints to the prompt."""
    return write_asking_module(commands, _BODY)


def add_plugin(config: str, path: str) -> str | None:
    """The user's own value of the variable with the plugin in it; None where it is no JSON object that can be added to.

    With comments, which the program allows, it is none either. A plugin of another run of rigline's, inside of which
    this one is started, is taken out.
    """
    try:
        settings = msgspec.json.decode(config) if config.strip() else {}
    except (msgspec.DecodeError, UnicodeError):
        return None
    plugins = settings.get("plugin", []) if isinstance(settings, dict) else None
    if not isinstance(plugins, list):
        return None
    others = [each for each in plugins if not str(each).endswith(f"/{PLUGIN_FILE}")]
    return msgspec.json.encode({**settings, "plugin": [*others, f"file://{quote(path)}"]}).decode()
