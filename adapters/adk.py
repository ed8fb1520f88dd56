#!/usr/bin/env python3
"""google-adk's own event compaction over one session.

Driven: `EventsCompactionConfig` with ADK's `LlmEventSummarizer`, a real `App`, `Runner` and `InMemorySessionService`. The
summarizer is ADK's own `Gemini` model class, which speaks generateContent to the trial's base URL.

`trigger = "sliding"` is the interval and overlap pair: compaction runs over the finished invocations, as after a turn, and
the session's last user message arrives as the next turn. `trigger = "token"` is the threshold and retention pair: it
runs inside that turn, just before the agent's model is called.

What is not ADK's: the agent's model, which takes down what ADK assembled for it and ends the trial there, and the
translation of chat messages into events and back.
"""

from _protocol import UsageError, arguments_of, plain, serve, split_system  # first: it takes stdout and the network

import asyncio
import json
import logging
import warnings
from importlib.metadata import version

from google.adk.agents import LlmAgent
from google.adk.apps.app import App, EventsCompactionConfig
from google.adk.apps.compaction import _run_compaction_for_sliding_window
from google.adk.apps.llm_event_summarizer import LlmEventSummarizer
from google.adk.events.event import Event
from google.adk.models.base_llm import BaseLlm
from google.adk.models.google_llm import Gemini
from google.adk.runners import Runner
from google.adk.sessions import InMemorySessionService
from google.genai import types
from pydantic import PrivateAttr

DEFAULTS = {
    "trigger": "sliding",
    "interval": 1,
    "overlap": 0,
    "threshold": 1,
    "retention": 2,
    "prompt_template": None,
}

NAMES = {"app_name": "laundromat", "user_id": "operator", "session_id": "trial"}
AGENT = "assistant"
# What ADK puts behind every agent's instruction.
IDENTITY = f'You are an agent. Your internal name is "{AGENT}".'

# Sent as the next turn when the session does not end with one, and taken out of the context again.
NEXT_TURN = "Continue."


class AgentAsked(Exception):
    """Ends the trial where the agent's model is asked; after its answer the token trigger would summarize that as well."""

    def __init__(self, context):
        super().__init__("the agent's model was asked")
        self.context = context


class AgentLlm(BaseLlm):
    """The agent's own model: says what ADK assembled for it."""

    async def generate_content_async(self, llm_request, stream=False):
        raise AgentAsked(to_chat(llm_request))
        yield  # an async generator, as the base class wants


class WatchedGemini(Gemini):
    """ADK's Gemini class; it only takes down how each answer ended."""

    _finished: list = PrivateAttr(default_factory=list)

    async def generate_content_async(self, llm_request, stream=False):
        async for response in super().generate_content_async(llm_request, stream):
            self._finished.append(getattr(response.finish_reason, "name", None) or response.error_code)
            yield response


def to_chat(llm_request):
    """An LlmRequest as chat messages, no text added or dropped."""
    out = []
    system = llm_request.config.system_instruction if llm_request.config else None
    if system:
        out.append({"role": "system", "content": system if isinstance(system, str)
                    else "".join(part.text or "" for part in system.parts or [])})
    for content in llm_request.contents:
        texts, calls = [], []
        for part in content.parts or []:
            if part.text:
                texts.append(part.text)
            if part.function_call:
                calls.append({"id": part.function_call.id or "", "type": "function", "function": {
                    "name": part.function_call.name,
                    "arguments": json.dumps(part.function_call.args or {}, ensure_ascii=False)}})
            if part.function_response:
                out.append({"role": "tool", "tool_call_id": part.function_response.id or "",
                            "content": json.dumps(part.function_response.response, ensure_ascii=False)})
        if texts or calls:
            entry = {"role": "assistant" if content.role == "model" else "user", "content": "\n".join(texts) or None}
            out.append({**entry, "tool_calls": calls} if calls else entry)
    return out


def without_identity(context):
    """The context without the line by which ADK tells an agent its name: it is there with and without a compaction."""
    if not context or context[0]["role"] != "system":
        return context
    system = context[0]["content"].replace(IDENTITY, "").strip()
    return [{"role": "system", "content": system}, *context[1:]] if system else context[1:]


def to_events(messages):
    """Chat messages as session events; each user message opens an invocation."""
    names, events, invocation = {}, [], "invocation-0"
    for at, message in enumerate(messages):
        author, role, parts = AGENT, "model", []
        text = plain(message.get("content"))
        if message["role"] == "tool":
            role, call = "user", message.get("tool_call_id") or ""
            parts.append(types.Part(function_response=types.FunctionResponse(
                id=call, name=names.get(call, "tool"), response=as_response(text))))
        elif message["role"] == "assistant":
            if text:
                parts.append(types.Part(text=text))
            for call in message.get("tool_calls") or []:
                names[call["id"]] = call["function"]["name"]
                parts.append(types.Part(function_call=types.FunctionCall(
                    id=call["id"], name=call["function"]["name"], args=arguments_of(call))))
        else:  # ADK has no system rows inside a session; a host would have put them on the user's side
            invocation, author, role = f"invocation-{at}", "user", "user"
            parts.append(types.Part(text=text))
        if parts:
            # Past and increasing: compaction windows are ranges of time.
            events.append(Event(author=author, invocation_id=invocation, timestamp=1000.0 + at,
                                content=types.Content(role=role, parts=parts)))
    return events


def as_response(text):
    """A tool's text as ADK's tool runner would have stored it: what is no object is wrapped."""
    try:
        value = json.loads(text)
    except ValueError:
        value = text
    return value if isinstance(value, dict) else {"result": value}


def as_recorded(context, messages):
    """The context with each result as the session has it, where ADK kept what `as_response` made of it."""
    texts = {m.get("tool_call_id"): plain(m.get("content")) for m in messages if m["role"] == "tool"}
    out = []
    for message in context:
        text = texts.get(message.get("tool_call_id")) if message["role"] == "tool" else None
        is_kept = text is not None and json.loads(message["content"]) == as_response(text)
        out.append({**message, "content": text} if is_kept else message)
    return out


def knobs(settings):
    if settings["trigger"] == "sliding":
        return {"compaction_interval": settings["interval"], "overlap_size": settings["overlap"]}
    if settings["trigger"] == "token":
        return {"token_threshold": settings["threshold"], "event_retention_size": settings["retention"]}
    raise UsageError(f"trigger is {settings['trigger']!r}; it has to be \"sliding\" or \"token\"")


async def run(trial):
    settings = trial.settings
    system, messages = split_system(trial.messages)
    current = plain(messages[-1].get("content")) if messages and messages[-1]["role"] == "user" else None
    events = to_events(messages if current is None else messages[:-1])

    summarizer = WatchedGemini(model=trial.model)
    prompt = {"prompt_template": settings["prompt_template"]} if settings["prompt_template"] else {}
    config = EventsCompactionConfig(summarizer=LlmEventSummarizer(llm=summarizer, **prompt), **knobs(settings))
    # A function: ADK puts state into the braces of an instruction that is a string.
    agent = LlmAgent(name=AGENT, model=AgentLlm(model="agent"), instruction=lambda _context: system)
    app = App(name=NAMES["app_name"], root_agent=agent, events_compaction_config=config)
    service = InMemorySessionService()
    session = await service.create_session(**NAMES)
    for event in events:
        await service.append_event(session=session, event=event)

    next_app = app
    if settings["trigger"] == "sliding":
        async for event in _run_compaction_for_sliding_window(app, await service.get_session(**NAMES), service):
            await service.append_event(session=await service.get_session(**NAMES), event=event)
        # Done; with the config the turn below would be compacted as well.
        next_app = App(name=NAMES["app_name"], root_agent=agent)
    runner = Runner(app=next_app, session_service=service)
    turn = types.Content(role="user", parts=[types.Part(text=current if current is not None else NEXT_TURN)])
    try:
        async for _ in runner.run_async(
                user_id=NAMES["user_id"], session_id=NAMES["session_id"], new_message=turn):
            pass
    except AgentAsked as asked:
        context = asked.context
    else:
        raise RuntimeError("the runner finished the turn without asking the agent's model")

    stored = [event.actions.compaction for event in (await service.get_session(**NAMES)).events
              if event.actions and event.actions.compaction]
    context = as_recorded(without_identity(context), messages)
    if current is None and context and context[-1] == {"role": "user", "content": NEXT_TURN}:
        context = context[:-1]
    trial.notes.update(
        library=f"google-adk {version('google-adk')}, google-genai {version('google-genai')}",
        entry=f"{settings['trigger']} {json.dumps(knobs(settings))}",
        compacted=bool(stored),
        compactions=len(stored),
        events=len(events),
        finish_reasons=summarizer._finished,
        summary="".join(part.text or "" for part in stored[-1].compacted_content.parts or []) if stored else None,
    )
    return context


if __name__ == "__main__":
    # ADK logs how a model call failed; ours is no failure.
    logging.lastResort.addFilter(lambda record: not (record.exc_info and isinstance(record.exc_info[1], AgentAsked)))
    warnings.filterwarnings("ignore", category=UserWarning)
    serve(lambda trial: asyncio.run(run(trial)), DEFAULTS)
