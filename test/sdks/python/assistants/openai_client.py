"""OpenAI's client, instrumented by what the variable INSTRUMENTATION names. Two agents are two calls."""

import os
from importlib import import_module

from openai import OpenAI
from scenarios import answers, search

import_module(os.environ["INSTRUMENTATION"]).OpenAIInstrumentor().instrument()
client = OpenAI()
MODEL = "gpt-5-mini"
TOOL = {"type": "function", "function": {"name": "search", "parameters": {"type": "object", "properties": {}}}}


def said(question):
    return [{"role": "user", "content": question}]


def ask(question):
    return client.chat.completions.create(model=MODEL, messages=said(question)).choices[0].message.content


def stream(question):
    for chunk in client.chat.completions.create(model=MODEL, messages=said(question), stream=True):
        if chunk.choices and chunk.choices[0].delta.content:
            yield chunk.choices[0].delta.content


def tool(question):
    first = client.chat.completions.create(model=MODEL, messages=said(question), tools=[TOOL]).choices[0].message
    result = {"role": "tool", "tool_call_id": first.tool_calls[0].id, "content": search()}
    messages = [*said(question), first.model_dump(exclude_none=True), result]
    return client.chat.completions.create(model=MODEL, messages=messages, tools=[TOOL]).choices[0].message.content


def team(question):
    return ask(f"Answer: {ask(f'Rewrite: {question}')}")


answer = answers(ask, stream, tool, team)
