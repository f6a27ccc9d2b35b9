"""The append-only history of all workstreams: its rules (pure) and the local ledger."""
