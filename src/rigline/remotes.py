"""What a git remote's URL identifies, whichever way it is written. Pure.

One repository is reached by many URLs: `https://token@GitHub.com/ann/app.git`, `ssh://git@github.com:22/ann/app`,
`git@github.com:ann/app`. All of them become `github.com/ann/app`: scheme, user, password, a scheme's own port, `.git`,
doubled and outer slashes and the host's case are dropped. The path keeps its case, since servers differ there. Host
aliases of `~/.ssh/config` stay as written: only ssh knows them.

Shapes are those of gitremote-helpers(7) and the section "GIT URLS" of git-fetch(1).
"""

from __future__ import annotations

from collections.abc import Iterable

_DEFAULT_PORTS = {"ssh": "22", "https": "443", "http": "80", "git": "9418", "ftp": "21", "ftps": "990"}
_SSH_NAMES = {"git+ssh", "ssh+git"}
_SCHEME_CHARACTERS = frozenset("abcdefghijklmnopqrstuvwxyz0123456789+-.")


def find_local_path(url: str) -> str | None:
    """The path of a remote on this machine, or None for one that is reached over a network."""
    scheme, rest = _split_scheme(url)
    if scheme == "file":
        host, slash, path = rest.partition("/")
        return _decode(slash + path) if host in ("", "localhost") else None
    if scheme or _split_helper(url) or _split_scp(url):
        return None
    return url


def identify(url: str) -> str:
    """`host/path`, or `host:port/path`, of a remote that is reached over a network."""
    scheme, rest = _split_scheme(url)
    if scheme:
        authority, _, path = rest.partition("/")
        return _join(*_split_port(_drop_user(authority), _DEFAULT_PORTS.get(scheme, "")), _decode(path))
    helper = _split_helper(url)
    if helper:
        return identify(helper)
    authority, path = _split_scp(url) or ("", url)
    host = _drop_user(authority)
    if host.endswith("]") and host.count(":") <= 1:  # `[host:port]:path`, not an IPv6 address
        host = host.strip("[]")
    return _join(*_split_port(host, _DEFAULT_PORTS["ssh"]), path)


def strip_repository_suffix(path: str) -> str:
    """A repository's path without outer slashes at its end, `/.git` and `.git`, which git adds by itself."""
    path = path.rstrip("/")
    path = path.removesuffix("/.git").rstrip("/")
    return path.removesuffix(".git").rstrip("/")


def choose_urls(settings: Iterable[tuple[str, str]]) -> list[str]:
    """The fetch URLs that identify a repository, from its configuration as (key, value) pairs in git's order.

    Those of `origin`; without an origin those of all remotes, since none of them stands out. An empty value clears
    what came before it, and `url.BASE.insteadOf` is applied, both as in git-config(1).
    """
    urls: dict[str, list[str]] = {}
    rewrites: list[tuple[str, str]] = []
    for key, value in settings:
        section, _, rest = key.partition(".")
        name, _, variable = rest.rpartition(".")
        if (section, variable) == ("remote", "url"):
            _add(urls.setdefault(name, []), value)
        elif (section, variable) == ("url", "insteadof"):
            rewrites.append((value, name))
    chosen = urls.get("origin") or [url for group in urls.values() for url in group]
    return [_rewrite(url, rewrites) for url in chosen]


def _add(group: list[str], url: str) -> None:
    if url.strip():
        group.append(url.strip())
    else:
        group.clear()


def _rewrite(url: str, rewrites: list[tuple[str, str]]) -> str:
    matching = [(prefix, base) for prefix, base in rewrites if prefix and url.startswith(prefix)]
    if not matching:
        return url
    prefix, base = max(matching, key=lambda pair: len(pair[0]))
    return base + url[len(prefix) :]


def _split_scheme(url: str) -> tuple[str, str]:
    scheme, separator, rest = url.partition("://")
    scheme = scheme.lower()
    if not separator or not scheme or not _SCHEME_CHARACTERS.issuperset(scheme):
        return "", url
    return ("ssh" if scheme in _SSH_NAMES else scheme), rest


def _split_helper(url: str) -> str | None:
    """The address in `helper::address`."""
    helper, separator, address = url.partition("::")
    return address if separator and helper.replace("-", "").isalnum() else None


def _split_scp(url: str) -> tuple[str, str] | None:
    """(authority, path) of `[user@]host:path`; None when a slash comes first, which makes it a path."""
    start = max(url.find("]"), 0) if "[" in url.partition("/")[0] else 0
    colon = url.find(":", start)
    if colon <= 0 or "/" in url[:colon]:
        return None
    return url[:colon], url[colon + 1 :]


def _drop_user(authority: str) -> str:
    return authority.rpartition("@")[2]


def _split_port(host: str, default_port: str) -> tuple[str, str]:
    """(host, port), the port "" when it is the scheme's own. An IPv6 host keeps its brackets."""
    name, separator, port = host.rpartition(":")
    if not separator or not (port.isdigit() or not port) or (host.startswith("[") and not name.endswith("]")):
        return host, ""
    return name, "" if port == default_port else port


def _join(host: str, port: str, path: str) -> str:
    parts = [part for part in path.split("/") if part]
    host = host.lower().rstrip(".") + (f":{port}" if port else "")
    return strip_repository_suffix("/".join([host, *parts]))


def _decode(path: str) -> str:
    if "%" not in path:
        return path
    from urllib.parse import unquote

    return unquote(path, errors="surrogateescape")
