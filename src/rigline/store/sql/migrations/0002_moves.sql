-- What of a checkout survives a rename, and the record of workstreams that were re-attached elsewhere.
ALTER TABLE workstreams ADD COLUMN inode_fingerprint TEXT;

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
