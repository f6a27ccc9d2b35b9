"""Crush's configuration, as far as a launch and the place of its sessions depend on it. Nothing is run or written.

From the public source (charmbracelet/crush): a project's data are, whichever comes first, in `--data-dir`; in
`options.data_directory` of the last configuration that has one; in the closest `.crush` up to the root of the git
checkout (outside of one, only in the directory itself); in `.crush` of the directory. Configurations, the later ones
winning:

    /etc/crush/crush.json
    crush.json in $CRUSH_GLOBAL_CONFIG, $XDG_CONFIG_HOME/crush or ~/.config/crush
    crush.json in $CRUSH_GLOBAL_DATA, $XDG_DATA_HOME/crush or ~/.local/share/crush
    crush.json and .crush.json in the checkout's root, and so on down to the directory

A `crushrc` is a shell script, and is never run to find out what it says.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping

import msgspec

from rigline.harness.file_store import read_object
from rigline.harness.folders import find_home
from rigline.harness.windows import as_dict, as_list, as_text

CONFIG_NAME, SHELL_CONFIG_NAME = "crush.json", "crushrc"
DATA_NAME = ".crush"
SYSTEM_CONFIG = "/etc/crush/crush.json"
_PACKET_NAME = "crush-context.md"


def find_config_folder(env: Mapping[str, str]) -> str:
    """The folder of the user's configuration."""
    return _find_global(env, "CRUSH_GLOBAL_CONFIG", "XDG_CONFIG_HOME", ".config")


def find_data_root(env: Mapping[str, str]) -> str:
    """The folder of what Crush keeps for all projects, the list of them among it."""
    return _find_global(env, "CRUSH_GLOBAL_DATA", "XDG_DATA_HOME", ".local/share")


def find_data_folder(env: Mapping[str, str], cwd: str) -> str:
    """Where Crush, started in that directory without `--data-dir`, keeps its sessions."""
    cwd = os.path.abspath(cwd)
    folders = list(_walk_down(cwd))
    places = [os.path.join(find_config_folder(env), CONFIG_NAME), os.path.join(find_data_root(env), CONFIG_NAME)]
    places += [os.path.join(folder, name) for folder in folders for name in (CONFIG_NAME, f".{CONFIG_NAME}")]
    configured = [folder for path in (SYSTEM_CONFIG, *places) if (folder := _read_data_directory(path))]
    if configured:
        return os.path.normpath(os.path.join(cwd, configured[-1]))
    near = next((folder for folder in reversed(folders) if os.path.isdir(os.path.join(folder, DATA_NAME))), cwd)
    return os.path.join(near, DATA_NAME)


def find_checkout(cwd: str) -> str:
    """The root of the git checkout around a directory, or the directory."""
    folder = os.path.abspath(cwd)
    while not os.path.exists(os.path.join(folder, ".git")):
        parent = os.path.dirname(folder)
        if parent == folder:
            return os.path.abspath(cwd)
        folder = parent
    return folder


def read_projects(env: Mapping[str, str]) -> dict[str, list[str]]:
    """The projects that Crush has worked in: data folder -> directories."""
    data = read_object(os.path.join(find_data_root(env), "projects.json"))
    found: dict[str, list[str]] = {}
    for each in as_list(data.get("projects")):
        project = as_dict(each)
        path, folder = as_text(project.get("path")), as_text(project.get("data_dir"))
        if os.path.isabs(path) and folder:
            found.setdefault(os.path.normpath(os.path.join(path, folder)), []).append(path)
    return found


def read_settings(env: Mapping[str, str]) -> dict[str, str]:
    """The user's own configuration, for `write_config`: its folder, and what is there. Files are only read."""
    folder = find_config_folder(env)
    settings = {"folder": folder}
    try:
        with open(os.path.join(folder, CONFIG_NAME), encoding="utf-8") as file:
            settings[CONFIG_NAME] = file.read()
    except FileNotFoundError:
        pass
    except (OSError, UnicodeDecodeError):
        settings[CONFIG_NAME] = "unreadable"
    if os.path.exists(os.path.join(folder, SHELL_CONFIG_NAME)):
        settings[SHELL_CONFIG_NAME] = os.path.join(folder, SHELL_CONFIG_NAME)
    return settings


def write_config(settings: Mapping[str, str], private_dir: str, packet: str) -> dict[str, str] | None:
    """The files of a configuration folder that is the user's and has the packet among the context; pure.

    None where the user's own is not plain JSON, which Crush refuses to start with.
    """
    text = settings.get(CONFIG_NAME, "").strip()
    try:
        config = msgspec.json.decode(text) if text else {}
    except (msgspec.DecodeError, UnicodeError):
        return None
    options = config.get("options", {}) if isinstance(config, dict) else None
    if not isinstance(options, dict):
        return None
    folder = settings.get("folder", "")
    # Crush names these two itself only where the list is empty
    defaults = [os.path.join(folder, "CRUSH.md"), os.path.join(os.path.dirname(folder), "AGENTS.md")]
    paths = as_list(options.get("global_context_paths")) or (defaults if folder else [])
    options = {**options, "global_context_paths": [*paths, os.path.join(private_dir, _PACKET_NAME)]}
    files = {CONFIG_NAME: msgspec.json.encode({**config, "options": options}).decode(), _PACKET_NAME: packet}
    if SHELL_CONFIG_NAME in settings:
        quoted = settings[SHELL_CONFIG_NAME].replace("'", "'\\''")
        files[SHELL_CONFIG_NAME] = f"source '{quoted}'\n"
    return files


def _find_global(env: Mapping[str, str], variable: str, base: str, default: str) -> str:
    own = env.get(variable, "")
    if own.strip():
        return own
    parent = env.get(base, "")
    return os.path.join(parent if parent.strip() else os.path.join(find_home(env), default), "crush")


def _walk_down(cwd: str) -> Iterator[str]:
    """The folders from the checkout's root down to the directory. Another user's end the way up."""
    root, folders = find_checkout(cwd), [cwd]
    while folders[-1] != root and _get_owner(os.path.dirname(folders[-1])) == _get_owner(cwd):
        folders.append(os.path.dirname(folders[-1]))
    return reversed(folders)


def _get_owner(path: str) -> int | None:
    try:
        return os.stat(path).st_uid
    except OSError:
        return None


def _read_data_directory(path: str) -> str:
    return as_text(as_dict(read_object(path).get("options")).get("data_directory"))
