"""The contracts of the ledger, one module a subject; `rigline.testing.ledger_conformance` runs them."""
