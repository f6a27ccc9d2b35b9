-- The search of the fast path. A filter that is NULL lets everything pass; `sessions` is a JSON list of keys.

-- name: match_all
SELECT rowid, CASE WHEN :is_ranked THEN bm25(events_fts) ELSE 0 END
FROM events_fts WHERE events_fts MATCH :match
ORDER BY rowid DESC LIMIT :limit OFFSET :offset

-- name: match_filtered
SELECT f.rowid, CASE WHEN :is_ranked THEN bm25(events_fts) ELSE 0 END
FROM events_fts f CROSS JOIN events e INDEXED BY events_facts ON e.seq = f.rowid
WHERE events_fts MATCH :match AND f.rowid BETWEEN :low AND :high
  AND (:kind IS NULL OR e.kind = :kind)
  AND (:role IS NULL OR e.role = :role)
  AND (:since_ms IS NULL OR e.at_ms >= :since_ms)
  AND (:harness IS NULL OR e.session_key IN (SELECT key FROM sessions WHERE harness = :harness))
  AND (:sessions IS NULL
       OR e.session_key IN (SELECT value FROM json_each(:sessions))
       OR e.seq IN (SELECT c.seq FROM event_copies c JOIN json_each(:sessions) s ON s.value = c.session_key))
ORDER BY f.rowid DESC LIMIT :limit OFFSET :offset

-- name: list_newest
SELECT e.seq, 0 FROM events e INDEXED BY events_facts
WHERE e.seq BETWEEN :low AND :high
  AND (:kind IS NULL OR e.kind = :kind)
  AND (:role IS NULL OR e.role = :role)
  AND (:since_ms IS NULL OR e.at_ms >= :since_ms)
  AND (:harness IS NULL OR e.session_key IN (SELECT key FROM sessions WHERE harness = :harness))
  AND (:sessions IS NULL
       OR e.session_key IN (SELECT value FROM json_each(:sessions))
       OR e.seq IN (SELECT c.seq FROM event_copies c JOIN json_each(:sessions) s ON s.value = c.session_key))
ORDER BY e.seq DESC LIMIT :limit OFFSET :offset

-- name: list_sessions_of_workstream
WITH RECURSIVE family (key) AS (
    SELECT session_key FROM bindings WHERE workstream_id = :workstream_id
    UNION
    SELECT child.key FROM family
    JOIN sessions parent ON parent.key = family.key
    JOIN links l ON l.harness = parent.harness AND l.parent_id = parent.native_id AND l.kind = 'subagent'
    JOIN sessions child ON child.harness = l.harness AND child.native_id = l.child_id
)
SELECT key FROM family

-- name: list_sessions_of_checkout
SELECT key FROM sessions WHERE worktree_fingerprint = :checkout

-- name: list_sessions_by_prefix
SELECT key FROM sessions
WHERE native_id >= :word AND native_id < :word || char(1114111) AND (:harness IS NULL OR harness = :harness)

-- name: find_range
SELECT min(low), max(high) FROM (
    SELECT (SELECT min(seq) FROM events WHERE session_key = value) AS low,
           (SELECT max(seq) FROM events WHERE session_key = value) AS high
    FROM json_each(:sessions)
    UNION ALL
    SELECT (SELECT min(seq) FROM event_copies WHERE session_key = value),
           (SELECT max(seq) FROM event_copies WHERE session_key = value)
    FROM json_each(:sessions)
)

-- name: get_events
SELECT e.seq, s.harness, s.native_id, s.title, e.kind, e.role, e.at_ms, e.tool, e.call_id, e.status, e.text,
       e.session_key,
       (SELECT group_concat(w.id || ' ' || w.name, char(10))
        FROM bindings b JOIN workstreams w ON w.id = b.workstream_id WHERE b.session_key = e.session_key)
FROM json_each(:seqs) AS wanted JOIN events e ON e.seq = wanted.value JOIN sessions s ON s.key = e.session_key

-- name: list_before
SELECT seq, kind, role, at_ms, tool, text FROM events
WHERE session_key = :session_key AND seq < :seq ORDER BY seq DESC LIMIT :limit

-- name: list_after
SELECT seq, kind, role, at_ms, tool, text FROM events
WHERE session_key = :session_key AND seq > :seq ORDER BY seq LIMIT :limit
