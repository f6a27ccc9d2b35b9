"""Faults are made against the real agents, with the fixtures of that group."""

from __future__ import annotations

from tests.real.conftest import agents, home, model, model_server, other, project, rigline, tmux

__all__ = ["agents", "home", "model", "model_server", "other", "project", "rigline", "tmux"]
