-- What `rigline doctor` asks a ledger, on a read-only connection.

-- name: count_rows
SELECT (SELECT count(*) FROM workstreams), (SELECT count(*) FROM sessions), (SELECT count(*) FROM events)

-- name: list_segments
SELECT name, bytes, sha256 FROM segments ORDER BY name
