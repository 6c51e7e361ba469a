"""LangChain, instrumented by what the variable INSTRUMENTATION names. Two agents: one is a tool of the other."""

import os
from importlib import import_module

from langchain.agents import create_agent
from langchain_core.tools import tool
from langchain_openai import ChatOpenAI
from scenarios import answers
from scenarios import search as search_now

instrumentation = import_module(os.environ["INSTRUMENTATION"])
getattr(instrumentation, "LangChainInstrumentor", getattr(instrumentation, "LangchainInstrumentor", None))().instrument()
model = ChatOpenAI(model="gpt-5-mini")


@tool
def search(query: str = "", input: str = "") -> str:
    """Searches the documentation."""
    return search_now(query)


@tool
def research(query: str = "", input: str = "") -> str:
    """Asks the other agent."""
    return invoke(create_agent(model, []))(f"Research: {query}")


def invoke(agent):
    return lambda question: agent.invoke({"messages": [{"role": "user", "content": question}]})["messages"][-1].text


answer = answers(
    ask=invoke(create_agent(model, [])),
    stream=lambda question: (chunk.text for chunk in model.stream(question)),
    tool=invoke(create_agent(model, [search])),
    team=invoke(create_agent(model, [research])),
)
