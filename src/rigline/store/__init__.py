"""Where the ledger's rows live: SQL by name, migrations, and one room a noun."""
