"""SQL by name: each `sql/*.sql` file is a list of statements, each under a `-- name: words` line."""

from __future__ import annotations

import os

_FOLDER = os.path.join(os.path.dirname(__file__), "sql")


def parse_queries(text: str) -> dict[str, str]:
    """The statements of a file by name. A name that comes twice raises ValueError."""
    queries: dict[str, str] = {}
    for part in ("\n" + text).split("\n-- name: ")[1:]:
        name, _, statement = part.partition("\n")
        if name.strip() in queries:
            raise ValueError(f"two statements are named {name.strip()}")
        queries[name.strip()] = statement.strip()
    return queries


def read_sql(name: str) -> str:
    """The text of a file below `sql/`."""
    with open(os.path.join(_FOLDER, name), encoding="utf-8") as file:
        return file.read()


def load_queries(name: str) -> dict[str, str]:
    """The named statements of a file below `sql/`."""
    return parse_queries(read_sql(name))


def list_migrations() -> dict[int, str]:
    """Number -> file name of every migration that this rigline knows, in order."""
    names = sorted(name for name in os.listdir(os.path.join(_FOLDER, "migrations")) if name.endswith(".sql"))
    return {int(name.partition("_")[0]): name for name in names}
