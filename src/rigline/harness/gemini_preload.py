"""The module that Node loads before Gemini CLI: it names one more extension, and keeps resumed sessions from deletion.

When a session is resumed in a later minute, the program first writes a second file of it, in which nothing is said. At
its next start its clean-up takes that for a broken session, and deletes every file with the same eight characters of
the id, the session itself with them (0.61.0). So such a stub is not written, and those that are there already are left
out of what the program sees in the folder. What the user's own settings say about old sessions stays in force.
"""

from __future__ import annotations

import msgspec


def write_module(*, option: str, extension: str, native_id: str) -> str:
    """The module's text: `option` is what makes Node load it, `extension` the extension's folder, `native_id` the
    session that is resumed, if it is known."""
    values = {"OWN_OPTION": option, "OWN_EXTENSION": extension, "RESUMED_ID": native_id}
    head = "".join(f"const {name} = {msgspec.json.encode(value).decode()};\n" for name, value in values.items())
    return f"{_IMPORTS}\n{head}{_BODY}"


_IMPORTS = """\
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import {syncBuiltinESMExports} from 'node:module';
"""
_BODY = """\
const {appendFileSync, existsSync, readdirSync} = fs;
const {readdir, readFile} = fs.promises;

// The first process only starts the second, which is the program and has this variable.
if (process.env.GEMINI_CLI_NO_RELAUNCH) {
  const rest = (process.env.NODE_OPTIONS ?? '').replace(OWN_OPTION, '').trim();
  if (rest) process.env.NODE_OPTIONS = rest;
  else delete process.env.NODE_OPTIONS;
}

const extensions = path.join(process.env.GEMINI_CLI_HOME || os.homedir(), '.gemini', 'extensions');

fs.existsSync = function (name) {
  return name === extensions || existsSync.call(this, name);
};

fs.promises.readdir = async function (folder, ...more) {
  if (folder === extensions && !more.length) {
    const found = existsSync(folder) ? await readdir.call(this, folder) : [];
    return [...found, path.relative(folder, OWN_EXTENSION)];
  }
  const found = await readdir.call(this, folder, ...more);
  const isChats = typeof folder === 'string' && folder.endsWith('/chats') && !more.length;
  return isChats ? withoutStubs(folder, found) : found;
};

async function withoutStubs(folder, names) {
  const kept = await Promise.all(names.map(async name => {
    const ending = /^session-.*(-[A-Za-z0-9]{8}\\.jsonl)$/.exec(name)?.[1];
    if (!ending || !names.some(other => other !== name && other.endsWith(ending))) return true;
    try {
      return /^\\{"id":/m.test(await readFile(path.join(folder, name), 'utf8'));
    } catch {
      return true;
    }
  }));
  return names.filter((name, place) => kept[place]);
}

const unwritten = new Set();

// A file that begins while another one of the very session is there: what is said goes to that one.
function isStub(name, data) {
  if (!RESUMED_ID || typeof name !== 'string' || typeof data !== 'string' || existsSync(name)) return false;
  if (unwritten.has(name)) return true;
  if (!data.startsWith(`{"sessionId":${JSON.stringify(RESUMED_ID)},`)) return false;
  const ending = /^session-.*(-[^-]{8}\\.jsonl)$/.exec(path.basename(name))?.[1];
  try {
    return Boolean(ending) && readdirSync(path.dirname(name)).some(other => other.endsWith(ending));
  } catch {
    return false;
  }
}

fs.appendFileSync = function (name, data, ...more) {
  if (isStub(name, data)) unwritten.add(name);
  else appendFileSync.call(this, name, data, ...more);
};

syncBuiltinESMExports();
"""
