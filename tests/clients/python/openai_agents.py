"""What a test asks of OpenAI's Agents SDK: `openai_agents.py BASE`, one JSON object back."""

import asyncio
import json
import sys

from agents import Agent, Runner, set_default_openai_client, set_tracing_disabled
from openai import AsyncOpenAI

base = sys.argv[1]
set_tracing_disabled(True)
set_default_openai_client(AsyncOpenAI(base_url=base, api_key="none", max_retries=0), use_for_tracing=False)
agent = Agent(name="librarian", instructions="You are a pirate.", model="general")


async def ask() -> object:
    first = await Runner.run(agent, "cite")
    again = await Runner.run(agent, [*first.to_input_list(), {"role": "user", "content": "near"}])
    chained = await Runner.run(agent, "refuse", previous_response_id=first.last_response_id)
    return {
        "first": first.final_output,
        "again": again.last_response_id,
        "chained": [chained.last_response_id, chained.final_output],
    }


async def stream() -> object:
    result = Runner.run_streamed(agent, "cite")
    deltas = [
        event.data.delta
        async for event in result.stream_events()
        if event.type == "raw_response_event" and event.data.type == "response.output_text.delta"
    ]
    return {"deltas": deltas, "final": result.final_output}


async def cite() -> object:
    result = await Runner.run(agent, "cite")
    return [a.title for a in result.new_items[0].raw_item.content[0].annotations]


async def cancel() -> object:
    result = Runner.run_streamed(agent, "hang")
    left = None
    async for event in result.stream_events():
        if event.type != "raw_response_event":
            continue
        left = left or getattr(getattr(event.data, "response", None), "id", None)
        if event.data.type == "response.output_text.delta":
            result.cancel()
    return left


async def error() -> object:
    try:
        await Runner.run(agent, "fail")
    except Exception as problem:
        return str(problem)
    return ""


async def main() -> None:
    print(json.dumps({each.__name__: await each() for each in (ask, stream, cite, cancel, error)}))


asyncio.run(main())
