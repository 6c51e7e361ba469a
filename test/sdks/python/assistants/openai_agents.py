"""The OpenAI Agents SDK, instrumented by what the variable INSTRUMENTATION names. Two agents: one hands over to the other."""

import os
from importlib import import_module

from agents import Agent, Runner, function_tool
from scenarios import answers, wait_for
from scenarios import search as search_now

import_module(os.environ["INSTRUMENTATION"]).OpenAIAgentsInstrumentor().instrument()
MODEL = "gpt-5-mini"


@function_tool
def search(query: str = "", input: str = "") -> str:
    return search_now(query)


writer = Agent(name="docs", model=MODEL)
searcher = Agent(name="docs", model=MODEL, tools=[search])
first = Agent(name="reception", model=MODEL, handoffs=[writer])


def run(agent):
    return lambda question: wait_for(Runner.run(agent, question)).final_output


def stream(question):
    async def parts():
        return [event.type async for event in Runner.run_streamed(writer, question).stream_events()]

    yield from wait_for(parts())


answer = answers(ask=run(writer), stream=stream, tool=run(searcher), team=run(first))
