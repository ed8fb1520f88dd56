#!/usr/bin/env python3
"""Hermes agent's own context compressor over one session.

Driven: `agent.context_compressor.ContextCompressor` of the installed hermes-agent, with its own auxiliary client.

`entry = "pipeline"` is `compress(messages, force=True)`, what `/compress` runs: old tool results are pruned to stubs, the
protected head and tail stay, the rest is summarized, the history is rebuilt. `entry = "step"` is only the summary
step, `_generate_summary`, over every message that is not a system message; the context is then the system messages
and the summary with Hermes' own prefix.

What is not Hermes': the home folder with a configuration that points the compression model at the trial's base URL,
and the pinned date in place of today's.
"""

from _protocol import UsageError, serve  # first: it takes stdout and the network

import copy
import inspect
import json
import logging
import os
import tempfile
from datetime import datetime, timezone
from importlib.metadata import version
from pathlib import Path

# Passed to the constructor when the arm gives them; None means the release's own default.
CONSTRUCTOR = ("protect_first_n", "protect_last_n", "threshold_percent", "summary_target_ratio",
               "abort_on_summary_failure", "tail_mode", "min_tail_user_messages")

DEFAULTS = {
    "entry": "pipeline",
    "context_length": 128_000,
    "tail_token_budget": None,
    "focus_topic": None,
    "memory_context": "",
    "previous_summary": None,
    "timeout": 300,
    **dict.fromkeys(CONSTRUCTOR),
}

# What the compressor says about its last run, where the release has the field.
STATE = ("_last_compress_aborted", "_last_summary_fallback_used", "_last_summary_dropped_count", "_last_summary_error",
         "_last_summary_truncated_failure", "_last_summary_empty_content_failure")


def compact(trial):
    settings = trial.settings
    if settings["entry"] not in ("pipeline", "step"):
        raise UsageError(f"entry is {settings['entry']!r}; it has to be \"pipeline\" or \"step\"")
    compressor = prepare(trial)
    extra = {"focus_topic": settings["focus_topic"], "memory_context": settings["memory_context"]}
    messages = copy.deepcopy(trial.messages)
    if settings["entry"] == "step":
        standing = [m for m in messages if m["role"] == "system"]
        text = compressor._generate_summary([m for m in messages if m["role"] != "system"], **extra)
        context = messages if text is None else [*standing, {"role": "user", "content": text}]
        compacted = text is not None
    else:
        context = compressor.compress(messages, force=True, **extra)
        context = [{k: v for k, v in m.items() if not k.startswith("_")} for m in context]
        compacted = context != trial.messages
    trial.notes.update(
        library=f"hermes-agent {version('hermes-agent')}",
        entry=settings["entry"],
        compacted=compacted,
        fallback=bool(getattr(compressor, "_last_summary_fallback_used", False)),
        summary=compressor._previous_summary,
        state={name.removeprefix("_last_"): getattr(compressor, name) for name in STATE if hasattr(compressor, name)},
    )
    return context


def prepare(trial):
    """The compressor, in a home of its own."""
    home = Path(tempfile.mkdtemp(prefix="hermes-home-"))
    os.environ["HERMES_HOME"] = str(home)
    compression = {"provider": "custom", "model": trial.model, "base_url": trial.openai_base_url,
                   "api_key": trial.token, "timeout": trial.settings["timeout"]}
    # YAML is a superset of JSON.
    home.joinpath("config.yaml").write_text(json.dumps({"auxiliary": {"compression": compression}}), encoding="utf-8")
    logging.basicConfig(level=logging.WARNING)

    # Only now: the package reads HERMES_HOME while it is imported.
    import hermes_time
    from agent.context_compressor import ContextCompressor

    today = datetime.fromisoformat(trial.date).replace(hour=12, tzinfo=timezone.utc)
    hermes_time.now = lambda: today

    given = {name: trial.settings[name] for name in CONSTRUCTOR if trial.settings[name] is not None}
    unknown = sorted(set(given) - set(inspect.signature(ContextCompressor.__init__).parameters))
    if unknown:
        raise UsageError(f"hermes-agent {version('hermes-agent')} has no {', '.join(unknown)}")
    compressor = ContextCompressor(
        model=trial.model, base_url=trial.openai_base_url, api_key=trial.token, provider="custom", quiet_mode=True,
        config_context_length=trial.settings["context_length"], **given)
    if trial.settings["tail_token_budget"] is not None:
        compressor.tail_token_budget = trial.settings["tail_token_budget"]
    compressor._previous_summary = trial.settings["previous_summary"]
    return compressor


if __name__ == "__main__":
    serve(compact, DEFAULTS)
