"""Sessions whose directory is a path of another system, or none: kept, and never taken for one of this checkout's."""

from __future__ import annotations

import os
import sqlite3
from contextlib import closing
from pathlib import Path

from tests.fakes.place import Person
from tests.fixtures import opencode_store

#: a drive, a share, a POSIX path joined onto a drive, one that lost its first slash, nothing
PATHS = ("C:\\work\\app", "\\\\server\\share\\app", "C:\\mnt\\e\\test", "below/app", "")


def test_a_session_of_another_system_s_directory_is_kept_and_belongs_to_no_checkout_here(tmp_path: Path) -> None:
    person = Person(tmp_path, grok="grok")
    path = opencode_store.place(person.home / ".local" / "share", person.project)
    os.makedirs(os.path.join(person.project, "below", "app"))
    with closing(sqlite3.connect(path)) as database, database:
        ids = [native_id for (native_id,) in database.execute("SELECT id FROM session")]
        assert len(ids) == len(PATHS)
        database.executemany("UPDATE session SET directory = ? WHERE id = ?", zip(PATHS, ids, strict=True))
    assert "5 sessions" in person("import", "--all").ok().out
    kept = person("search", "--all", "--limit", "100", "--json").ok().value["hits"]
    assert {hit["native_id"] for hit in kept} == set(ids)
    for cwd in (person.project, os.path.join(person.project, "below", "app")):
        assert person("search", "--json", cwd=cwd).value["hits"] == []
        assert person("run", "--dry-run", "--json", "grok", cwd=cwd).ok().value["native_id"] not in ids
