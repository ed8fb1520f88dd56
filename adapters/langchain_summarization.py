#!/usr/bin/env python3
"""LangChain's SummarizationMiddleware over one session.

Driven: `langchain.agents.middleware.SummarizationMiddleware` inside a real `create_agent`, which calls it before the model; the
summarizer is `ChatOpenAI` on the trial's base URL.

What is not LangChain's: the agent's model, which records what it is asked and answers without a network. Chat messages are
translated by LangChain's own converters; a leading system message becomes the agent's system prompt, as a host sets it.
"""

from _protocol import UsageError, serve, split_system, with_valid_arguments  # first: it takes stdout and the network

from importlib.metadata import version

from langchain.agents import create_agent
from langchain.agents.middleware import SummarizationMiddleware
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, convert_to_messages, convert_to_openai_messages
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_openai import ChatOpenAI
from pydantic import PrivateAttr

DEFAULTS = {
    # The library has no default trigger: without one it never summarizes.
    "trigger": {"messages": 1},
    # The library's own default.
    "keep": {"messages": 20},
    # The library's default is 4000; 0 is its None, no trimming.
    "trim_tokens_to_summarize": 4000,
    "summary_prompt": None,
}


class RecordingModel(BaseChatModel):
    """The agent's own model: keeps what it is asked, and answers at once."""

    _asked: list = PrivateAttr(default_factory=list)

    @property
    def _llm_type(self):
        return "recording"

    def _generate(self, messages, stop=None, run_manager=None, **kwargs):
        self._asked.append(messages)
        return ChatResult(generations=[ChatGeneration(message=AIMessage("Understood."))])


def as_size(name, table):
    if not isinstance(table, dict) or len(table) != 1:
        raise UsageError(f"{name} is a table with one of messages, tokens or fraction, for example {{ messages = 20 }}")
    return next(iter(table.items()))


def is_summary(message):
    return message.additional_kwargs.get("lc_source") == "summarization"


def compact(trial):
    settings = trial.settings
    system, messages = split_system(with_valid_arguments(trial.messages))
    summarizer = ChatOpenAI(model=trial.model, base_url=trial.openai_base_url, api_key=trial.token)
    prompt = {"summary_prompt": settings["summary_prompt"]} if settings["summary_prompt"] else {}
    middleware = SummarizationMiddleware(
        summarizer,
        trigger=as_size("trigger", settings["trigger"]),
        keep=as_size("keep", settings["keep"]),
        trim_tokens_to_summarize=settings["trim_tokens_to_summarize"] or None,
        **prompt)
    agent_model = RecordingModel()
    agent = create_agent(agent_model, tools=[], middleware=[middleware], system_prompt=system or None)
    agent.invoke({"messages": convert_to_messages(messages)})
    asked = agent_model._asked[0]
    summary = next((message.text for message in asked if is_summary(message)), None)
    trial.notes.update(
        library=f"langchain {version('langchain')}, langchain-core {version('langchain-core')}, "
                f"langchain-openai {version('langchain-openai')}",
        entry=f"create_agent, trigger {settings['trigger']}, keep {settings['keep']}",
        compacted=summary is not None,
        summary=summary,
    )
    return convert_to_openai_messages(asked)


if __name__ == "__main__":
    serve(compact, DEFAULTS)
