"""What each agent CLI beside Claude Code and Codex needs to run offline in an empty home: variables and files."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from typing import Any

MODEL = "scripted-model"
#: what every provider configuration says of the one model
LIMITS = {"contextWindow": 200000, "maxTokens": 8192}


def configure(name: str, home: str, url: str) -> dict[str, str]:
    """Write what the agent reads below `home`, and return the variables for its environment."""
    return SETUPS[name](home, url)


def set_up_pi(home: str, url: str) -> dict[str, str]:
    """Pi 1.6.0: a provider in `models.json`; `--model scripted/scripted-model` is its default then."""
    folder = os.path.join(home, ".pi", "agent")
    write_json(os.path.join(folder, "models.json"), {"providers": {"scripted": _provider(url)}})
    write_json(os.path.join(folder, "settings.json"), {"defaultProvider": "scripted", "defaultModel": MODEL})
    return {"PI_OFFLINE": "1", "PI_TELEMETRY": "0"}


def set_up_omp(home: str, url: str) -> dict[str, str]:
    """OMP 18.2.3: Pi's shape in `models.yml`, of which JSON is a part."""
    folder = os.path.join(home, ".omp", "agent")
    write_json(os.path.join(folder, "models.yml"), {"providers": {"scripted": _provider(url)}})
    return {}


def set_up_kimi(home: str, url: str) -> dict[str, str]:  # noqa: ARG001
    """Kimi Code 2.1.0: variables alone. Without telemetry a run ends 3 s earlier."""
    return {
        "KIMI_MODEL_NAME": MODEL,
        "KIMI_MODEL_API_KEY": "dummy",
        "KIMI_MODEL_PROVIDER_TYPE": "openai",
        "KIMI_MODEL_BASE_URL": f"{url}/v1",
        "KIMI_CODE_NO_AUTO_UPDATE": "1",
        "KIMI_DISABLE_TELEMETRY": "1",
    }


def set_up_qwen(home: str, url: str) -> dict[str, str]:
    """Qwen Code 0.24.4."""
    settings = {"security": {"auth": {"selectedType": "openai"}}, "general": {"disableAutoUpdate": True}}
    write_json(os.path.join(home, ".qwen", "settings.json"), settings)
    return {"OPENAI_API_KEY": "dummy", "OPENAI_BASE_URL": f"{url}/v1", "OPENAI_MODEL": MODEL}


def set_up_opencode(home: str, url: str) -> dict[str, str]:
    """OpenCode 1.18.33: the provider's package is bundled."""
    provider = {
        "npm": "@ai-sdk/openai-compatible",
        "options": {"baseURL": f"{url}/v1", "apiKey": "dummy"},
        "models": {MODEL: {"name": MODEL}},
    }
    path = os.path.join(home, ".config", "opencode", "opencode.json")
    write_json(path, {"provider": {"scripted": provider}, "model": f"scripted/{MODEL}", "autoupdate": False})
    return {"OPENCODE_DISABLE_MODELS_FETCH": "1", "OPENCODE_DISABLE_AUTOUPDATE": "1"}


def set_up_copilot(home: str, url: str) -> dict[str, str]:  # noqa: ARG001
    """GitHub Copilot CLI 1.0.102: a provider of one's own, and no look at GitHub."""
    return {
        "COPILOT_OFFLINE": "true",
        "COPILOT_PROVIDER_BASE_URL": f"{url}/v1",
        "COPILOT_PROVIDER_TYPE": "openai",
        "COPILOT_PROVIDER_API_KEY": "dummy",
        "COPILOT_MODEL": MODEL,
    }


def set_up_gemini(home: str, url: str) -> dict[str, str]:
    """Gemini CLI 0.61.0. Its retention is left as it comes, since rigline has to cope with it."""
    settings = {
        "security": {"auth": {"selectedType": "gemini-api-key"}, "folderTrust": {"enabled": False}},
        "model": {"name": "gemini-2.5-flash"},
        "general": {"disableAutoUpdate": True},
    }
    write_json(os.path.join(home, ".gemini", "settings.json"), settings)
    return {"GEMINI_API_KEY": "dummy", "GOOGLE_GEMINI_BASE_URL": url}


def set_up_command_code(home: str, url: str) -> dict[str, str]:
    """Command Code 1.64.0; without any API key it asks for a login."""
    provider = {
        "api": "openai-completions",
        "baseURL": f"{url}/v1",
        "apiKey": "$SCRIPTED_KEY",
        "models": {MODEL: {"contextWindow": LIMITS["contextWindow"]}},
    }
    write_json(os.path.join(home, ".commandcode", "providers.json"), {"provider": {"scripted": provider}})
    return {"CMD_LOCAL_ONLY": "1", "COMMANDCODE_SKIP_UPDATES": "1", "COMMAND_CODE_API_KEY": "dummy"}


SETUPS: dict[str, Callable[[str, str], dict[str, str]]] = {
    "pi": set_up_pi,
    "omp": set_up_omp,
    "kimi-code": set_up_kimi,
    "qwen-code": set_up_qwen,
    "opencode": set_up_opencode,
    "copilot": set_up_copilot,
    "gemini-cli": set_up_gemini,
    "command-code": set_up_command_code,
}


def _provider(url: str) -> dict[str, Any]:
    model = {"id": MODEL, "reasoning": True, "input": ["text"], **LIMITS}
    cost = {"input": 0, "output": 0, "cacheRead": 0, "cacheWrite": 0}
    api = {"baseUrl": f"{url}/v1", "api": "openai-completions", "apiKey": "dummy"}
    return {**api, "models": [{**model, "cost": cost}]}


def write_json(path: str, value: object) -> None:
    """Write a file and the folders above it."""
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8") as file:
        json.dump(value, file)
