-- What the ledger asks its tables. Values are named; nothing is put together in Python.

-- name: find_workstream_by_name
SELECT id, name, workspace, project, repo_fingerprint, worktree_fingerprint, cwd, created_ms, active_ms, generation,
       EXISTS (SELECT 1 FROM bindings WHERE workstream_id = workstreams.id), inode_fingerprint
FROM workstreams
WHERE workspace = :workspace AND project = :project AND worktree_fingerprint = :worktree_fingerprint AND name = :name

-- name: find_workstream_by_id
SELECT id, name, workspace, project, repo_fingerprint, worktree_fingerprint, cwd, created_ms, active_ms, generation,
       EXISTS (SELECT 1 FROM bindings WHERE workstream_id = workstreams.id), inode_fingerprint
FROM workstreams WHERE id = :id

-- name: find_selected_workstream
SELECT id, name, workspace, project, repo_fingerprint, worktree_fingerprint, cwd, created_ms, active_ms, generation,
       EXISTS (SELECT 1 FROM bindings WHERE workstream_id = workstreams.id), inode_fingerprint
FROM workstreams
WHERE workspace = :workspace AND project = :project AND worktree_fingerprint = :worktree_fingerprint
ORDER BY selected DESC LIMIT 1

-- name: list_workstreams
SELECT id, name, workspace, project, repo_fingerprint, worktree_fingerprint, cwd, created_ms, active_ms, generation,
       EXISTS (SELECT 1 FROM bindings WHERE workstream_id = workstreams.id), inode_fingerprint
FROM workstreams ORDER BY selected DESC

-- name: list_workstreams_of_scope
SELECT id, name, workspace, project, repo_fingerprint, worktree_fingerprint, cwd, created_ms, active_ms, generation,
       EXISTS (SELECT 1 FROM bindings WHERE workstream_id = workstreams.id), inode_fingerprint
FROM workstreams
WHERE workspace = :workspace AND project = :project AND worktree_fingerprint = :worktree_fingerprint
ORDER BY selected DESC

-- name: list_workstreams_of_checkout
SELECT id, name, workspace, project, repo_fingerprint, worktree_fingerprint, cwd, created_ms, active_ms, generation,
       EXISTS (SELECT 1 FROM bindings WHERE workstream_id = workstreams.id), inode_fingerprint
FROM workstreams
WHERE worktree_fingerprint = :worktree_fingerprint
ORDER BY selected DESC

-- name: insert_workstream
INSERT INTO workstreams (id, name, workspace, project, repo_fingerprint, worktree_fingerprint, inode_fingerprint, cwd,
                         created_ms, active_ms, selected)
VALUES (:id, :name, :workspace, :project, :repo_fingerprint, :worktree_fingerprint, :inode_fingerprint, :cwd,
        :now_ms, :now_ms, (SELECT coalesce(max(selected), 0) + 1 FROM workstreams))

-- name: select_workstream
UPDATE workstreams
SET cwd = :cwd, repo_fingerprint = :repo_fingerprint, inode_fingerprint = :inode_fingerprint, active_ms = :now_ms,
    generation = generation + 1, selected = (SELECT max(selected) + 1 FROM workstreams)
WHERE id = :id

-- name: relocate_workstream
UPDATE workstreams
SET name = :name, workspace = :workspace, project = :project, repo_fingerprint = :repo_fingerprint,
    worktree_fingerprint = :worktree_fingerprint, inode_fingerprint = :inode_fingerprint, cwd = :cwd,
    selected = (SELECT max(selected) + 1 FROM workstreams)
WHERE id = :id

-- name: put_move
INSERT OR IGNORE INTO moves (position, workstream_id, from_cwd, to_cwd, evidence, at_ms)
VALUES (:position, :workstream_id, :from_cwd, :to_cwd, :evidence, :at_ms)

-- name: list_moves
SELECT from_cwd, to_cwd, evidence, at_ms FROM moves WHERE workstream_id = :workstream_id ORDER BY position DESC

-- name: list_sessions_that_move
-- Those of the workstream with the subagents that they started, as far as they were in the checkout that it has left;
-- when it was the last one there, everything.
SELECT s.key, s.harness, s.native_id
FROM sessions s
WHERE s.worktree_fingerprint = :former AND (
    NOT EXISTS (SELECT 1 FROM workstreams WHERE worktree_fingerprint = :former)
    OR s.key IN (SELECT session_key FROM bindings WHERE workstream_id = :workstream_id)
    OR (s.is_subagent AND EXISTS (
        SELECT 1 FROM links l
        JOIN sessions parent ON parent.harness = l.harness AND parent.native_id = l.parent_id
        JOIN bindings b ON b.session_key = parent.key
        WHERE l.harness = s.harness AND l.child_id = s.native_id AND b.workstream_id = :workstream_id))
)
ORDER BY s.key

-- name: find_first_bound_session
SELECT session_key FROM bindings WHERE workstream_id = :workstream_id ORDER BY is_current DESC, session_key LIMIT 1

-- name: move_session
UPDATE sessions
SET workspace = :workspace, project = :project, repo_fingerprint = :repo_fingerprint,
    worktree_fingerprint = :worktree_fingerprint
WHERE key = :key

-- name: touch_workstream
UPDATE workstreams SET active_ms = max(active_ms, :now_ms) WHERE id = :id

-- name: rename_workstream
UPDATE workstreams SET name = :name WHERE id = :id

-- name: list_bindings
SELECT s.harness, s.native_id, b.evidence, b.created_via, b.bound_ms, b.is_current, s.store, s.path, s.title
FROM bindings b JOIN sessions s ON s.key = b.session_key
LEFT JOIN runs r ON r.workstream_id = b.workstream_id AND r.session_key = b.session_key
WHERE b.workstream_id = :workstream_id
GROUP BY b.session_key
ORDER BY b.is_current DESC, max(coalesce(r.generation, 0)) DESC, b.bound_ms DESC, b.session_key DESC

-- name: find_binding
SELECT s.harness, s.native_id, b.evidence, b.created_via, b.bound_ms, b.is_current, s.store, s.path, s.title
FROM bindings b JOIN sessions s ON s.key = b.session_key
WHERE b.workstream_id = :workstream_id AND b.session_key = :session_key

-- name: list_workstreams_of_session
SELECT w.id, w.name, w.workspace, w.project, w.repo_fingerprint, w.worktree_fingerprint, w.cwd, w.created_ms,
       b.is_current, b.evidence, b.created_via, b.bound_ms, w.inode_fingerprint
FROM bindings b JOIN workstreams w ON w.id = b.workstream_id
WHERE b.session_key = :session_key
ORDER BY b.bound_ms, w.id

-- name: unset_current
UPDATE bindings SET is_current = 0
WHERE workstream_id = :workstream_id AND harness = :harness AND is_current = 1

-- name: put_binding
INSERT INTO bindings (workstream_id, session_key, harness, is_current, evidence, created_via, run_id, bound_ms)
VALUES (:workstream_id, :session_key, :harness, :is_current, :evidence, :created_via, :run_id, :now_ms)
ON CONFLICT (workstream_id, session_key) DO UPDATE
SET is_current = excluded.is_current, evidence = excluded.evidence, created_via = excluded.created_via,
    run_id = excluded.run_id, bound_ms = excluded.bound_ms

-- name: find_active_run
SELECT id, harness, host, pid, pid_started, started_ms, expires_ms, generation
FROM runs WHERE workstream_id = :workstream_id AND state = 'active'

-- name: insert_run
INSERT INTO runs (id, workstream_id, harness, state, generation, host, pid, pid_started, cwd, started_ms, expires_ms)
VALUES (:id, :workstream_id, :harness, 'active',
        (SELECT generation FROM workstreams WHERE id = :workstream_id),
        :host, :pid, :pid_started, :cwd, :now_ms, :expires_ms)

-- name: expire_run
UPDATE runs SET state = 'expired', ended_ms = :now_ms WHERE id = :id

-- name: find_run
SELECT r.state, r.workstream_id, r.generation, w.name
FROM runs r JOIN workstreams w ON w.id = r.workstream_id
WHERE r.id = :id

-- name: renew_run
UPDATE runs SET expires_ms = :expires_ms WHERE id = :id

-- name: set_run_session
UPDATE runs SET session_key = :session_key WHERE id = :id

-- name: finish_run
UPDATE runs SET state = :state, ended_ms = :now_ms, exit_code = :exit_code WHERE id = :id

-- name: supersede_run
UPDATE runs SET state = 'superseded', exit_code = :exit_code WHERE id = :id

-- name: list_runs
SELECT r.id, r.workstream_id, r.harness, r.state, r.generation, r.host, r.pid, r.pid_started, r.cwd, r.started_ms,
       r.expires_ms, r.ended_ms, r.exit_code, s.native_id
FROM runs r LEFT JOIN sessions s ON s.key = r.session_key
WHERE (:workstream_id IS NULL OR r.workstream_id = :workstream_id)
  AND (NOT :active_only OR r.state = 'active')
ORDER BY r.rowid DESC

-- name: put_checkpoint
INSERT INTO checkpoints (run_id, moment, at_ms, head, branch, status_hash, paths, paths_left_out)
VALUES (:run_id, :moment, :at_ms, :head, :branch, :status_hash, :paths, :paths_left_out)
ON CONFLICT (run_id, moment) DO UPDATE
SET at_ms = excluded.at_ms, head = excluded.head, branch = excluded.branch, status_hash = excluded.status_hash,
    paths = excluded.paths, paths_left_out = excluded.paths_left_out

-- name: find_newest_checkpoint
SELECT c.at_ms, c.head, c.branch, c.status_hash, c.paths, c.paths_left_out, r.harness
FROM checkpoints c JOIN runs r ON r.id = c.run_id
WHERE r.workstream_id = :workstream_id AND r.state <> 'active'
ORDER BY r.generation DESC, c.moment = 'end' DESC LIMIT 1

-- name: find_session
SELECT key, cursor, is_subagent FROM sessions WHERE harness = :harness AND native_id = :native_id

-- name: find_place
SELECT store, workspace, project, repo_fingerprint, worktree_fingerprint FROM sessions WHERE key = :key

-- name: insert_session
INSERT INTO sessions (harness, native_id) VALUES (:harness, :native_id)

-- name: describe_session
UPDATE sessions
SET path = coalesce(:path, path), cwd = coalesce(cwd, :cwd), title = coalesce(:title, title),
    store = coalesce(:store, store), is_subagent = :is_subagent
WHERE key = :key

-- name: place_session
UPDATE sessions
SET workspace = :workspace, project = :project, repo_fingerprint = :repo_fingerprint,
    worktree_fingerprint = :worktree_fingerprint
WHERE key = :key AND worktree_fingerprint IS NULL

-- name: set_cursor
UPDATE sessions SET cursor = :cursor WHERE key = :key

-- name: widen_session
UPDATE sessions
SET first_ms = min(coalesce(first_ms, :first_ms), :first_ms), last_ms = max(coalesce(last_ms, :last_ms), :last_ms)
WHERE key = :key

-- name: list_sessions
WITH counts AS (
    SELECT session_key, sum(n) AS n, sum(copies) AS copies FROM (
        SELECT session_key, count(*) AS n, 0 AS copies FROM events GROUP BY session_key
        UNION ALL
        SELECT session_key, count(*), count(*) FROM event_copies GROUP BY session_key
    ) GROUP BY session_key
)
SELECT s.harness, s.native_id, s.path, s.cwd, s.store, s.cursor, s.title, s.is_subagent,
       coalesce(counts.n, 0), s.first_ms, s.last_ms, s.key, coalesce(counts.copies, 0)
FROM sessions s LEFT JOIN counts ON counts.session_key = s.key
WHERE :worktree_fingerprint IS NULL OR s.worktree_fingerprint = :worktree_fingerprint
ORDER BY s.last_ms DESC, s.key DESC

-- name: get_session
SELECT s.harness, s.native_id, s.path, s.cwd, s.store, s.cursor, s.title, s.is_subagent,
       (SELECT count(*) FROM events WHERE session_key = s.key)
       + (SELECT count(*) FROM event_copies WHERE session_key = s.key), s.first_ms, s.last_ms, s.key,
       (SELECT count(*) FROM event_copies WHERE session_key = s.key)
FROM sessions s WHERE s.key = :key

-- name: find_sessions_by_prefix
SELECT key, harness, native_id FROM sessions
WHERE native_id >= :word AND native_id < :word || char(1114111) AND (:harness IS NULL OR harness = :harness)
ORDER BY native_id

-- name: list_session_names
SELECT key, harness, native_id FROM sessions

-- name: list_all_bindings
SELECT session_key, workstream_id FROM bindings ORDER BY bound_ms, workstream_id

-- name: list_bindings_of_session
SELECT session_key, workstream_id FROM bindings WHERE session_key = :key ORDER BY bound_ms, workstream_id

-- name: list_all_losses
SELECT session_key, kind, count FROM losses ORDER BY kind

-- name: list_losses_of_session
SELECT session_key, kind, count FROM losses WHERE session_key = :key ORDER BY kind

-- name: list_all_links
SELECT harness, child_id, parent_id, kind, evidence FROM links

-- name: list_links_of_session
SELECT harness, child_id, parent_id, kind, evidence FROM links
WHERE harness = :harness AND child_id = :native_id
UNION
SELECT harness, child_id, parent_id, kind, evidence FROM links
WHERE harness = :harness AND parent_id = :native_id

-- name: insert_link
INSERT OR IGNORE INTO links (harness, child_id, parent_id, kind, evidence)
VALUES (:harness, :child_id, :parent_id, :kind, :evidence)

-- name: add_loss
INSERT INTO losses (session_key, kind, count) VALUES (?, ?, ?)
ON CONFLICT (session_key, kind) DO UPDATE SET count = count + excluded.count

-- name: clear_incoming
DELETE FROM incoming

-- name: put_incoming
INSERT INTO incoming (place, id, copy_key) VALUES (?, ?, ?)

-- name: match_incoming_by_id
SELECT i.place, e.seq, e.session_key, e.id, e.text_hash, c.seq IS NOT NULL
FROM incoming i JOIN events e ON e.id = i.id
LEFT JOIN event_copies c ON c.session_key = :session_key AND c.seq = e.seq

-- name: match_incoming_by_copy_key
SELECT i.place, e.seq, e.session_key, e.id, e.text_hash, c.seq IS NOT NULL
FROM incoming i JOIN events e ON e.copy_key = i.copy_key
LEFT JOIN event_copies c ON c.session_key = :session_key AND c.seq = e.seq

-- name: find_last_position
SELECT max(coalesce((SELECT max(seq) FROM events), 0), coalesce((SELECT max(position) FROM event_copies), 0),
           coalesce((SELECT max(position) FROM moves), 0))

-- name: insert_event
INSERT INTO events (seq, id, session_key, kind, role, at_ms, turn, tool, call_id, status, copy_key, text_hash,
                    record, block, text)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)

-- name: insert_words
INSERT INTO events_fts (rowid, text) VALUES (?, ?)

-- name: delete_words
INSERT INTO events_fts (events_fts, rowid, text) VALUES ('delete', ?, ?)

-- name: get_text
SELECT text FROM events WHERE seq = :seq

-- name: revise_event
UPDATE events SET text = :text, text_hash = :text_hash, status = coalesce(:status, status), revision = revision + 1
WHERE seq = :seq

-- name: insert_copy
INSERT INTO event_copies (position, session_key, seq, turn) VALUES (?, ?, ?, ?)

-- name: find_event_by_id
SELECT seq FROM events WHERE id = :id

-- name: put_turn
INSERT INTO turns (session_key, turn, parent_turn, last_position) VALUES (?, ?, ?, ?)
ON CONFLICT (session_key, turn) DO UPDATE
SET parent_turn = CASE excluded.parent_turn WHEN '' THEN parent_turn ELSE excluded.parent_turn END,
    last_position = max(last_position, excluded.last_position)

-- name: list_turns
SELECT turn, parent_turn, last_position FROM turns WHERE session_key = :session_key

-- name: insert_segment
INSERT OR IGNORE INTO segments (name, session_key, events, bytes, sha256)
VALUES (:name, :session_key, :events, :bytes, :sha256)

-- name: supersede_deliveries
UPDATE deliveries SET state = 'superseded'
WHERE workstream_id = :workstream_id AND state = 'offered' AND harness = :harness AND id <> :id
  AND (native_id IS NULL OR native_id = :native_id)

-- name: insert_delivery
INSERT OR IGNORE INTO deliveries (id, workstream_id, run_id, harness, native_id, parts, through, state, offered_ms)
VALUES (:id, :workstream_id, :run_id, :harness, :native_id, :parts, :through, 'offered', :now_ms)

-- name: find_delivery
SELECT parts, through, state FROM deliveries WHERE id = :id

-- name: has_sighting
SELECT 1 FROM sightings WHERE delivery_id = :delivery_id AND session_key = :session_key AND part = :part

-- name: insert_sighting
INSERT OR IGNORE INTO sightings (delivery_id, session_key, part) VALUES (:delivery_id, :session_key, :part)

-- name: count_sightings
SELECT count(*) FROM sightings WHERE delivery_id = :delivery_id AND session_key = :session_key

-- name: confirm_delivery
UPDATE deliveries SET state = 'confirmed', native_id = :native_id, confirmed_ms = :now_ms WHERE id = :id

-- name: put_seen
INSERT INTO seen (receiver_key, source_key, through, seen_ms)
VALUES (:receiver_key, :source_key, :through, :now_ms)
ON CONFLICT (receiver_key, source_key) DO UPDATE
SET through = excluded.through, seen_ms = excluded.seen_ms
WHERE excluded.through > through

-- name: inherit_seen
INSERT INTO seen (receiver_key, source_key, through, seen_ms)
SELECT :child_key, source_key, through, seen_ms FROM seen
WHERE receiver_key = :parent_key AND source_key <> :child_key AND seen_ms <= :born_ms
ON CONFLICT (receiver_key, source_key) DO UPDATE
SET through = excluded.through, seen_ms = excluded.seen_ms
WHERE excluded.through > through

-- name: list_seen
SELECT source_key, through FROM seen WHERE receiver_key = :receiver_key

-- name: list_copies
SELECT seq FROM event_copies WHERE session_key = :session_key

-- name: list_seen_copies
SELECT c.seq FROM seen s JOIN event_copies c ON c.session_key = s.source_key AND c.position <= s.through
WHERE s.receiver_key = :receiver_key

-- name: find_last_position_of_session
SELECT coalesce(max(position), 0) FROM (
    SELECT max(seq) AS position FROM events
    WHERE session_key = :session_key AND (:born_ms IS NULL OR at_ms <= :born_ms)
    UNION ALL
    SELECT max(c.position) FROM event_copies c JOIN events e ON e.seq = c.seq
    WHERE c.session_key = :session_key AND (:born_ms IS NULL OR e.at_ms <= :born_ms)
)

-- name: list_sources
SELECT s.key, s.harness, s.native_id FROM bindings b JOIN sessions s ON s.key = b.session_key
WHERE b.workstream_id = :workstream_id AND s.is_subagent = 0

-- name: list_subagents
WITH RECURSIVE family (key) AS (
    SELECT session_key FROM bindings WHERE workstream_id = :workstream_id
    UNION
    SELECT child.key FROM family
    JOIN sessions parent ON parent.key = family.key
    JOIN links l ON l.harness = parent.harness AND l.parent_id = parent.native_id AND l.kind = 'subagent'
    JOIN sessions child ON child.harness = l.harness AND child.native_id = l.child_id
)
SELECT key FROM family

-- name: list_unseen
WITH sources AS (
    SELECT s.key, coalesce(n.through, 0) AS through
    FROM bindings b JOIN sessions s ON s.key = b.session_key
    LEFT JOIN seen n ON n.receiver_key = :receiver_key AND n.source_key = s.key
    WHERE b.workstream_id = :workstream_id AND s.is_subagent = 0 AND s.key <> :receiver_key
)
SELECT e.seq, e.kind, e.session_key, sources.key, e.seq AS position, e.turn
FROM sources CROSS JOIN events e ON e.session_key = sources.key AND e.seq > sources.through
UNION ALL
SELECT c.seq, e.kind, e.session_key, sources.key, c.position, c.turn
FROM sources CROSS JOIN event_copies c ON c.session_key = sources.key AND c.position > sources.through
JOIN events e ON e.seq = c.seq
ORDER BY 1 DESC

-- name: list_events
-- Of a tool's output longer than :chars the two ends, with a line feed for each one left out between them.
SELECT e.seq, s.harness, s.native_id, e.kind,
       CASE WHEN e.kind <> 'tool_result' OR length(e.text) <= :chars THEN e.text
            ELSE substr(e.text, 1, :chars / 2) || replace(hex(zeroblob(
                   length(substr(e.text, :chars / 2 + 1, length(e.text) - :chars / 2 * 2))
                   - length(replace(substr(e.text, :chars / 2 + 1, length(e.text) - :chars / 2 * 2), char(10), ''))
                 )), '00', char(10)) || substr(e.text, -(:chars / 2))
       END,
       e.role, e.at_ms, e.tool, e.call_id, e.status, e.session_key, e.turn
FROM json_each(:seqs) AS wanted JOIN events e ON e.seq = wanted.value JOIN sessions s ON s.key = e.session_key
ORDER BY e.seq

-- name: find_last_message
-- Each session's last message of its own, or of its copies where it has none; the latest of all sessions.
SELECT e.seq, s.harness, s.native_id, e.kind, substr(e.text, 1, :chars), e.role, e.at_ms, e.tool, e.call_id, e.status
FROM bindings b JOIN sessions s ON s.key = b.session_key
JOIN events e ON e.seq = coalesce(
    (SELECT seq FROM events WHERE session_key = s.key AND kind = 'message' ORDER BY seq DESC LIMIT 1),
    (SELECT c.seq FROM event_copies c JOIN events copied ON copied.seq = c.seq
     WHERE c.session_key = s.key AND copied.kind = 'message' ORDER BY c.position DESC LIMIT 1)
)
WHERE b.workstream_id = :workstream_id AND s.is_subagent = 0
ORDER BY coalesce(e.at_ms, 0) DESC, e.seq DESC LIMIT 1

-- name: list_history
SELECT e.seq FROM json_each(:sources) AS source JOIN events e ON e.session_key = source.value AND e.seq > :after_seq
UNION
SELECT c.seq FROM json_each(:sources) AS source JOIN event_copies c ON c.session_key = source.value AND c.seq > :after_seq
ORDER BY 1 LIMIT :limit

-- name: list_newest_history
SELECT e.seq FROM json_each(:sources) AS source JOIN events e ON e.session_key = source.value AND e.seq > :after_seq
UNION
SELECT c.seq FROM json_each(:sources) AS source JOIN event_copies c ON c.session_key = source.value AND c.seq > :after_seq
ORDER BY 1 DESC LIMIT :limit

-- name: count_events_of_workstream
WITH sources AS (
    SELECT s.key FROM bindings b JOIN sessions s ON s.key = b.session_key
    WHERE b.workstream_id = :workstream_id AND s.is_subagent = 0
), members AS (
    SELECT e.seq FROM sources CROSS JOIN events e ON e.session_key = sources.key
    UNION
    SELECT c.seq FROM sources CROSS JOIN event_copies c ON c.session_key = sources.key
)
SELECT e.kind, count(*) FROM members CROSS JOIN events e ON e.seq = members.seq GROUP BY e.kind

-- name: count_events_of_runs
SELECT r.id, count(e.seq)
FROM json_each(:run_ids) AS wanted JOIN runs r ON r.id = wanted.value
LEFT JOIN bindings b ON b.workstream_id = r.workstream_id AND b.harness = r.harness
LEFT JOIN events e ON e.session_key = b.session_key
    AND e.at_ms >= r.started_ms AND e.at_ms <= coalesce(r.ended_ms, :now_ms)
GROUP BY r.id

-- name: list_checkpoints
SELECT r.id, r.harness, c.moment, c.at_ms, c.head, c.branch, c.status_hash, c.paths, c.paths_left_out
FROM checkpoints c JOIN runs r ON r.id = c.run_id
WHERE r.workstream_id = :workstream_id
ORDER BY r.generation DESC, c.moment = 'start'

-- name: list_deliveries
SELECT id, run_id, harness, native_id, parts, state, offered_ms, confirmed_ms
FROM deliveries WHERE workstream_id = :workstream_id ORDER BY rowid DESC

-- name: list_copies_of_events
SELECT c.seq, c.session_key, c.turn FROM json_each(:seqs) AS wanted JOIN event_copies c ON c.seq = wanted.value

-- name: count_all
SELECT (SELECT count(*) FROM sessions), (SELECT count(*) FROM events), (SELECT count(*) FROM workstreams)

-- name: put_rebuilt_workstream
INSERT INTO workstreams (id, name, workspace, project, repo_fingerprint, worktree_fingerprint, inode_fingerprint, cwd,
                         created_ms, active_ms, selected)
VALUES (:id, :name, :workspace, :project, :repo_fingerprint, :worktree_fingerprint, :inode_fingerprint, :cwd,
        :created_ms, :bound_ms, (SELECT coalesce(max(selected), 0) + 1 FROM workstreams))
ON CONFLICT (id) DO UPDATE
SET name = excluded.name, workspace = excluded.workspace, project = excluded.project,
    repo_fingerprint = excluded.repo_fingerprint, worktree_fingerprint = excluded.worktree_fingerprint,
    inode_fingerprint = excluded.inode_fingerprint, cwd = excluded.cwd,
    selected = (SELECT max(selected) + 1 FROM workstreams)
