#!/usr/bin/env python3
"""pydantic-ai-harness' own compaction strategies over one session.

Driven: the strategy classes of `pydantic_ai_harness.compaction`; the summarizer is Pydantic AI's `OpenAIChatModel` on the
trial's base URL.

`via = "compact_now"` is the library's entry point for a manual `/compact`: no trigger, whatever the size. `via = "agent"`
runs a whole `Agent` with the strategy as a capability: the session's last user message is the new prompt, and the context is
the body that the agent then sent.

What is not the library's: the agent's model, which is the same class on a transport that records and answers without a
network, and the translation of chat messages into the library's history (a step's tool results share one request, as the
framework stores them). The context is what the chat model class puts on the wire for the compacted history.
"""

from _protocol import UsageError, plain, serve  # first: it takes stdout and the network

import asyncio
import json
from importlib.metadata import version

import httpx2
from pydantic_ai import Agent
from pydantic_ai.direct import model_request
from pydantic_ai.messages import (
    ModelRequest,
    ModelResponse,
    SystemPromptPart,
    TextPart,
    ToolCallPart,
    ToolReturnPart,
    UserPromptPart,
)
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.providers.openai import OpenAIProvider
from pydantic_ai_harness.compaction import (
    ClampOversizedMessages,
    ClearToolResults,
    SlidingWindowCompaction,
    SummarizingCompaction,
    TieredCompaction,
    compact_now,
)

DEFAULTS = {
    "strategy": "summarizing",
    "via": "compact_now",
    # Handed to the strategy's constructor; what is not in it keeps the library's default.
    "options": {},
}

# Where each release marks its summary: a system part up to 0.61, a framed user part from 0.62 on.
SYSTEM_PREFIX = "Summary of previous conversation:\n\n"
USER_FRAME = "<conversation_summary>"


class AgentModel:
    """The agent's own chat model: the library's class on a transport that keeps each body and answers at once."""

    def __init__(self):
        self.asked = []
        client = httpx2.AsyncClient(transport=httpx2.MockTransport(self._answer))
        # No port: nothing may listen where this points.
        provider = OpenAIProvider(base_url="http://127.0.0.1:9/v1", api_key="none", http_client=client)
        self.model = OpenAIChatModel("agent", provider=provider)

    def _answer(self, request):
        self.asked.append(json.loads(request.content)["messages"])
        message = {"role": "assistant", "content": "Understood."}
        return httpx2.Response(200, json={
            "id": "agent", "object": "chat.completion", "created": 0, "model": "agent",
            "choices": [{"index": 0, "finish_reason": "stop", "message": message}],
            "usage": {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}})


def to_history(messages):
    """Chat messages as a Pydantic AI history."""
    names, history, pending, kind = {}, [], [], None

    def add(part, its_kind, joins):
        nonlocal kind
        if pending and kind not in joins:
            close()
        pending.append(part)
        kind = its_kind

    def close():
        if pending:
            history.append(ModelRequest(parts=list(pending)))
            pending.clear()

    for message in messages:
        text = plain(message.get("content"))
        if message["role"] in ("system", "developer"):
            add(SystemPromptPart(content=text), "system", ("system",))
        elif message["role"] == "user":
            # A system prompt shares the request of the user turn after it.
            add(UserPromptPart(content=text), "user", ("system",))
        elif message["role"] == "tool":
            call = message.get("tool_call_id") or ""
            add(ToolReturnPart(tool_name=names.get(call, "tool"), content=text, tool_call_id=call), "tool", ("tool",))
        else:
            close()
            parts = [TextPart(content=text)] if text else []
            for call in message.get("tool_calls") or []:
                names[call["id"]] = call["function"]["name"]
                parts.append(ToolCallPart(tool_name=call["function"]["name"],
                                          args=call["function"].get("arguments") or "{}", tool_call_id=call["id"]))
            if parts:
                history.append(ModelResponse(parts=parts, model_name="agent"))
    close()
    return history


def build(settings, summarizer):
    name, options = settings["strategy"], settings["options"]
    # The library has no default trigger, and `compact_now` asks none; an agent's run needs one.
    trigger = {} if options.keys() & {"max_messages", "max_tokens", "max_fraction"} else {"max_messages": 1}
    if name == "summarizing":
        return SummarizingCompaction(model=summarizer, **trigger, **options)
    if name == "sliding":
        return SlidingWindowCompaction(**trigger, **options)
    if name == "clear":
        return ClearToolResults(**trigger, **options)
    if name == "lightspeed":
        return lightspeed_tiers(summarizer, **options)
    raise UsageError(f"strategy is {name!r}; it has to be \"summarizing\", \"sliding\", \"clear\" or \"lightspeed\"")


def lightspeed_tiers(summarizer, *, context_window=None, threshold_ratio=0.7, buffer_turns=4, buffer_max_ratio=0.3,
                     keep_user_messages=True):
    """The tiers that lightspeed-stack's builder puts together, under its own names for the options."""
    keep_tokens = int(context_window * buffer_max_ratio) if context_window else None
    return TieredCompaction(
        tiers=[
            ClampOversizedMessages(max_part_tokens=50_000),
            ClearToolResults(max_messages=1),
            SummarizingCompaction(
                model=summarizer, max_messages=1, incremental=True, preserve_first_user_message=True,
                keep_user_messages=keep_user_messages, keep_messages=buffer_turns, keep_tokens=keep_tokens),
        ],
        target_fraction=threshold_ratio, context_window=context_window, fallback_context_window=128_000)


def summary_in(context):
    for message in context:
        text = plain(message.get("content"))
        if message["role"] == "system" and text.startswith(SYSTEM_PREFIX):
            return text.removeprefix(SYSTEM_PREFIX), "system"
        if message["role"] == "user" and USER_FRAME in text:
            return text, "user"
    return None, None


async def run(trial):
    settings = trial.settings
    provider = OpenAIProvider(base_url=trial.openai_base_url, api_key=trial.token)
    try:
        strategy = build(settings, OpenAIChatModel(trial.model, provider=provider))
    except TypeError as fault:
        raise UsageError(f"options of strategy {settings['strategy']}: {fault}") from None
    agent = AgentModel()
    history = to_history(trial.messages)
    if settings["via"] == "compact_now":
        after = await compact_now(strategy, history, model=agent.model)
        await model_request(agent.model, after)
        trial.notes["native_messages"] = [len(history), len(after)]
    elif settings["via"] == "agent":
        if not trial.messages or trial.messages[-1]["role"] != "user":
            raise UsageError("via = \"agent\" needs a session that ends with a user message")
        prompt = plain(trial.messages[-1].get("content"))
        await Agent(agent.model, capabilities=[strategy]).run(prompt, message_history=to_history(trial.messages[:-1]))
    else:
        raise UsageError(f"via is {settings['via']!r}; it has to be \"compact_now\" or \"agent\"")
    context = agent.asked[-1]

    uncompacted = AgentModel()
    await model_request(uncompacted.model, history)
    summary, role = summary_in(context)
    trial.notes.update(
        library=f"pydantic-ai-harness {version('pydantic-ai-harness')}, pydantic-ai-slim {version('pydantic-ai-slim')}",
        entry=f"{settings['strategy']} via {settings['via']}",
        compacted=context != uncompacted.asked[-1],
        summary=summary,
        summary_role=role,
    )
    return context


if __name__ == "__main__":
    serve(lambda trial: asyncio.run(run(trial)), DEFAULTS)
