-- Where `search` looks: the checkout and the workstream that its words and its directory name.

-- name: has_checkout
SELECT EXISTS (SELECT 1 FROM sessions WHERE worktree_fingerprint = :worktree_fingerprint)
    OR EXISTS (SELECT 1 FROM workstreams WHERE worktree_fingerprint = :worktree_fingerprint)

-- name: list_workstreams
SELECT id, name, worktree_fingerprint FROM workstreams ORDER BY selected DESC

-- name: list_session_ids
SELECT native_id FROM sessions
