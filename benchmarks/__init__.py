"""Whole-process figures, as ratios to a bare interpreter measured in the same minute. Never part of the tests."""
