"""What a contributor needs to prove an adapter or a store: conformance suites, a fake harness, a clock."""
