"""JavaScript modules that a launch gives to agents: how values of the launch get into them, and how they ask the hook.

A module's body is constant text. What belongs to the launch stands in front of it as constants, each encoded as JSON,
so that no path or command can become code, whatever it holds.
"""

from __future__ import annotations

import msgspec

#: how long a module waits for a hook at most
HOOK_MS = 20_000


def write_module(body: str, **constants: object) -> str:
    """The module's text: each constant under its name, and the body, whose imports may stand anywhere."""
    head = "".join(f"const {name} = {msgspec.json.encode(value).decode()};\n" for name, value in constants.items())
    return f"{head}\n{body}"


def write_asking_module(commands: tuple[str, ...], body: str, **constants: object) -> str:
    """The same, for a body that gets the packet by `askHooks(payload)`: the texts that these commands print."""
    return write_module(_ASK + body, COMMANDS=commands, HOOK_MS=HOOK_MS, **constants)


#: a hook that fails says nothing, and one that hangs, or whose children do, is not waited for
_ASK = """\
import {spawn} from 'node:child_process';

function ask(command, payload) {
  return new Promise(resolve => {
    const child = spawn('/bin/sh', ['-c', command], {stdio: ['pipe', 'pipe', 'ignore']});
    const chunks = [];
    const end = text => { clearTimeout(timer); resolve(text); };
    const timer = setTimeout(() => { child.kill('SIGKILL'); end(''); }, HOOK_MS);
    child.on('error', () => end(''));
    child.on('close', code => end(code === 0 ? Buffer.concat(chunks).toString('utf8') : ''));
    child.stdout.on('data', chunk => chunks.push(chunk));
    child.stdin.on('error', () => {});
    child.stdin.end(JSON.stringify(payload));
  });
}

async function askHooks(payload) {
  const texts = await Promise.all(COMMANDS.map(command => ask(command, payload).catch(() => '')));
  return texts.filter(text => text.trim());
}

"""
