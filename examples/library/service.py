"""A FastAPI service with one agent, whose answers are streamed to the browser."""

from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager

from fastapi import FastAPI
from fastapi.responses import StreamingResponse
from pydantic import BaseModel

from hermes_acp import Agent, TextDelta

STOCK = {"tea": 12, "coffee": 0}
agent = Agent(name="shop", builtin_tools=[], instructions="You answer questions about a small shop.")


def in_stock(product: str) -> int:
    """Return how many packs of a product the shop has in stock."""
    return STOCK.get(product, 0)


agent.register_tool(in_stock)


@asynccontextmanager
async def lifespan(app: FastAPI) -> AsyncGenerator[None]:
    async with agent:
        yield


app = FastAPI(lifespan=lifespan)


class Question(BaseModel):
    text: str


@app.post("/ask")
async def ask(question: Question) -> dict[str, str]:
    result = await agent.run_async(question.text)
    return {"answer": result.text}


@app.post("/stream")
async def stream(question: Question) -> StreamingResponse:
    async def words() -> AsyncIterator[str]:
        async for event in agent.stream_async(question.text):
            if isinstance(event, TextDelta):
                yield event.text

    return StreamingResponse(words(), media_type="text/plain")
