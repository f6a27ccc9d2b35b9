"""What the demonstration and the tests stand on: a scripted model, pinned agent CLIs, a made-up corpus. Not shipped."""
