"""What every harness's adapter must do, by what it is about."""
