"""Pydantic AI with its own instrumentation. Two agents: one is a tool of the other."""

from pydantic_ai import Agent
from scenarios import answers, search, wait_for

Agent.instrument_all()
MODEL = "openai-chat:gpt-5-mini"
writer, searcher, second, first = Agent(MODEL), Agent(MODEL, tools=[search]), Agent(MODEL), Agent(MODEL)


@first.tool_plain
async def ask_other(query: str = "", input: str = "") -> str:
    return (await second.run(f"Research: {query}")).output


def run(agent):
    return lambda question: wait_for(agent.run(question)).output


def stream(question):
    async def parts():
        async with writer.run_stream(question) as result:
            return [part async for part in result.stream_text(delta=True)]

    yield from wait_for(parts())


answer = answers(ask=run(writer), stream=stream, tool=run(searcher), team=run(first))
