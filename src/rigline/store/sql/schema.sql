-- The ledger's tables as they are now: what all migrations together give (a test holds this).
-- Times are UTC milliseconds. A position numbers everything that becomes part of a session, over the whole
-- ledger: an event's own is its seq, a copy's membership has one of its own.

CREATE TABLE migrations (
    number INTEGER PRIMARY KEY,
    name TEXT NOT NULL,
    applied_ms INTEGER NOT NULL
);

-- One logical line of work in one checkout. `selected` grows with every selection, whatever the clock does.
-- The repository's fingerprint is no part of the key: a remote that is added later must not hide the line.
-- `inode_fingerprint` is NULL where a rigline that did not know it ran last.
CREATE TABLE workstreams (
    id TEXT PRIMARY KEY,
    name TEXT NOT NULL,
    workspace TEXT NOT NULL,
    project TEXT NOT NULL,
    repo_fingerprint TEXT NOT NULL,
    worktree_fingerprint TEXT NOT NULL,
    cwd TEXT NOT NULL,
    created_ms INTEGER NOT NULL,
    active_ms INTEGER NOT NULL,
    selected INTEGER NOT NULL,
    generation INTEGER NOT NULL DEFAULT 0,
    inode_fingerprint TEXT,
    UNIQUE (workspace, project, worktree_fingerprint, name)
);

-- A workstream that was re-attached to another checkout. Its position stands between those of events, so that the
-- segment that tells it has its place among the others.
CREATE TABLE moves (
    position INTEGER PRIMARY KEY,
    workstream_id TEXT NOT NULL REFERENCES workstreams (id),
    from_cwd TEXT NOT NULL,
    to_cwd TEXT NOT NULL,
    evidence TEXT NOT NULL,
    at_ms INTEGER NOT NULL
);

-- One row a native session; a session that only copies or links name has no path and no cursor yet.
CREATE TABLE sessions (
    key INTEGER PRIMARY KEY,
    harness TEXT NOT NULL,
    native_id TEXT NOT NULL,
    store TEXT,
    path TEXT,
    cwd TEXT,
    workspace TEXT,
    project TEXT,
    repo_fingerprint TEXT,
    worktree_fingerprint TEXT,
    cursor TEXT,
    title TEXT,
    is_subagent INTEGER NOT NULL DEFAULT 0,
    first_ms INTEGER,
    last_ms INTEGER,
    UNIQUE (harness, native_id)
);

CREATE INDEX sessions_native_id ON sessions (native_id);

CREATE TABLE runs (
    id TEXT PRIMARY KEY,
    workstream_id TEXT NOT NULL REFERENCES workstreams (id),
    harness TEXT NOT NULL,
    state TEXT NOT NULL CHECK (state IN ('active', 'finished', 'cancelled', 'expired', 'superseded')),
    generation INTEGER NOT NULL,
    host TEXT NOT NULL,
    pid INTEGER NOT NULL,
    pid_started TEXT NOT NULL,
    cwd TEXT NOT NULL,
    started_ms INTEGER NOT NULL,
    expires_ms INTEGER NOT NULL,
    ended_ms INTEGER,
    exit_code INTEGER,
    session_key INTEGER REFERENCES sessions (key),
    UNIQUE (workstream_id, generation)
);

CREATE UNIQUE INDEX runs_one_active ON runs (workstream_id) WHERE state = 'active';

CREATE TABLE checkpoints (
    run_id TEXT NOT NULL REFERENCES runs (id),
    moment TEXT NOT NULL CHECK (moment IN ('start', 'end')),
    at_ms INTEGER NOT NULL,
    head TEXT,
    branch TEXT,
    status_hash TEXT,
    paths TEXT NOT NULL,
    paths_left_out INTEGER NOT NULL,
    PRIMARY KEY (run_id, moment)
) WITHOUT ROWID;

CREATE TABLE bindings (
    workstream_id TEXT NOT NULL REFERENCES workstreams (id),
    session_key INTEGER NOT NULL REFERENCES sessions (key),
    harness TEXT NOT NULL,
    is_current INTEGER NOT NULL,
    evidence TEXT NOT NULL,
    created_via TEXT NOT NULL,
    run_id TEXT REFERENCES runs (id),
    bound_ms INTEGER NOT NULL,
    PRIMARY KEY (workstream_id, session_key)
) WITHOUT ROWID;

CREATE UNIQUE INDEX bindings_one_current ON bindings (workstream_id, harness) WHERE is_current = 1;
CREATE INDEX bindings_session ON bindings (session_key);

-- By native id, since a parent may be linked before the ledger knows anything else of it.
CREATE TABLE links (
    harness TEXT NOT NULL,
    child_id TEXT NOT NULL,
    parent_id TEXT NOT NULL,
    kind TEXT NOT NULL,
    evidence TEXT NOT NULL,
    PRIMARY KEY (harness, child_id, parent_id, kind)
) WITHOUT ROWID;

CREATE INDEX links_parent ON links (harness, parent_id);

-- The text stands last, so that the other columns are read without it. `copy_key` is NULL where there is none.
CREATE TABLE events (
    seq INTEGER PRIMARY KEY,
    id BLOB NOT NULL UNIQUE,
    session_key INTEGER NOT NULL REFERENCES sessions (key),
    kind TEXT NOT NULL,
    role TEXT,
    at_ms INTEGER,
    turn TEXT NOT NULL,
    tool TEXT,
    call_id TEXT,
    status TEXT,
    copy_key BLOB,
    text_hash BLOB NOT NULL,
    revision INTEGER NOT NULL DEFAULT 0,
    record TEXT NOT NULL,
    block INTEGER NOT NULL,
    text TEXT NOT NULL
);

CREATE INDEX events_session ON events (session_key);
-- What search filters by, without the texts between: its first column is the key that matches come with.
CREATE INDEX events_facts ON events (seq, kind, role, at_ms, session_key);
CREATE INDEX events_copy_key ON events (copy_key) WHERE copy_key IS NOT NULL;

-- A session's copy of an event that is stored under another session; `turn` is as the copying session names it.
CREATE TABLE event_copies (
    position INTEGER PRIMARY KEY,
    session_key INTEGER NOT NULL REFERENCES sessions (key),
    seq INTEGER NOT NULL REFERENCES events (seq),
    turn TEXT NOT NULL,
    UNIQUE (session_key, seq)
);

CREATE INDEX event_copies_seq ON event_copies (seq);

-- A session's prompts as a tree, so that abandoned branches can be told from the living one.
CREATE TABLE turns (
    session_key INTEGER NOT NULL REFERENCES sessions (key),
    turn TEXT NOT NULL,
    parent_turn TEXT NOT NULL,
    last_position INTEGER NOT NULL,
    PRIMARY KEY (session_key, turn)
) WITHOUT ROWID;

-- Words only: the text is in `events`. Rows are written by rigline, CJK characters spaced apart.
CREATE VIRTUAL TABLE events_fts USING fts5 (
    text,
    content = '',
    tokenize = 'unicode61 remove_diacritics 2'
);

-- How far one session was shown another one's events, as positions.
CREATE TABLE seen (
    receiver_key INTEGER NOT NULL REFERENCES sessions (key),
    source_key INTEGER NOT NULL REFERENCES sessions (key),
    through INTEGER NOT NULL,
    seen_ms INTEGER NOT NULL,
    PRIMARY KEY (receiver_key, source_key)
) WITHOUT ROWID;

CREATE TABLE deliveries (
    id TEXT PRIMARY KEY,
    workstream_id TEXT NOT NULL REFERENCES workstreams (id),
    run_id TEXT NOT NULL REFERENCES runs (id),
    harness TEXT NOT NULL,
    native_id TEXT,
    parts INTEGER NOT NULL,
    through TEXT NOT NULL,
    state TEXT NOT NULL CHECK (state IN ('offered', 'confirmed', 'superseded')),
    offered_ms INTEGER NOT NULL,
    confirmed_ms INTEGER
);

CREATE INDEX deliveries_workstream ON deliveries (workstream_id, state);

CREATE TABLE sightings (
    delivery_id TEXT NOT NULL REFERENCES deliveries (id),
    session_key INTEGER NOT NULL REFERENCES sessions (key),
    part INTEGER NOT NULL,
    PRIMARY KEY (delivery_id, session_key, part)
) WITHOUT ROWID;

CREATE TABLE losses (
    session_key INTEGER NOT NULL REFERENCES sessions (key),
    kind TEXT NOT NULL,
    count INTEGER NOT NULL,
    PRIMARY KEY (session_key, kind)
) WITHOUT ROWID;

CREATE TABLE segments (
    name TEXT PRIMARY KEY,
    session_key INTEGER NOT NULL REFERENCES sessions (key),
    events INTEGER NOT NULL,
    bytes INTEGER NOT NULL,
    sha256 TEXT NOT NULL
) WITHOUT ROWID;
