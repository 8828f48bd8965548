# pyright: basic, reportMissingImports=false
"""Generation with a small model on a CPU: waiting prompts are batched, token by token."""

import asyncio
from dataclasses import dataclass
from typing import Any, NamedTuple

import torch
from transformers import DynamicCache

MOST_TOGETHER = 128
SECONDS_TO_JOIN = 0.03
"""Seconds to wait for more prompts: a small batch takes nearly as long as a large one."""


@dataclass(frozen=True)
class GenerationRequest:
    """A prompt to continue by at most `max_tokens` tokens."""

    prompt_ids: list[int]
    max_tokens: int
    temperature: float


class Generated(NamedTuple):
    """Tokens, the log probability of each, and the version of the weights that they are of.

    With `aborted` they are a part of an answer, for a pause came between.
    """

    token_ids: list[int]
    logprobs: list[float]
    version: int | None = None
    aborted: bool = False


class Generation:
    """Generates for one model: greedy at temperature 0, without top-k or top-p."""

    def __init__(self, model: Any, *, end: int, seed: int) -> None:
        self.model = model.eval()
        self._end = end
        self._chance = torch.Generator().manual_seed(seed)
        self._waiting: list[tuple[GenerationRequest, asyncio.Future[Generated]]] = []
        self._worker: asyncio.Task[None] | None = None
        self.weights = asyncio.Lock()  # protects model and version: neither changes under a batch
        self.version: int | None = None
        self._goes = asyncio.Event()
        self._goes.set()

    async def pause(self) -> None:
        """End what is being generated at its next token, and begin nothing until `resume`. New requests wait."""
        self._goes.clear()
        async with self.weights:
            pass

    def resume(self) -> None:
        """Generate again."""
        self._goes.set()

    async def answer(self, request: GenerationRequest) -> Generated:
        """Answer one request, batched with others of about the same time."""
        future: asyncio.Future[Generated] = asyncio.get_running_loop().create_future()
        self._waiting.append((request, future))
        if self._worker is None or self._worker.done():
            self._worker = asyncio.create_task(self._work())
        return await future

    async def _work(self) -> None:
        while self._waiting:
            await self._goes.wait()
            await self._gathered()
            batch, self._waiting = self._waiting[:MOST_TOGETHER], self._waiting[MOST_TOGETHER:]
            async with self.weights:
                answers = await asyncio.to_thread(self.together, [request for request, _ in batch])
            for (_, future), answer in zip(batch, answers, strict=True):
                if not future.done():
                    future.set_result(answer)

    async def _gathered(self) -> None:
        """Wait until no further request arrives. Requests that were answered together come back together."""
        there = 0
        while there < len(self._waiting) < MOST_TOGETHER:
            there = len(self._waiting)
            await asyncio.sleep(SECONDS_TO_JOIN)

    @torch.inference_mode()
    def together(self, requests: list[GenerationRequest]) -> list[Generated]:
        """Answer a batch: prompts are padded on the left, and each row continues until it ends."""
        longest = max(len(request.prompt_ids) for request in requests)
        ids = torch.tensor([[self._end] * (longest - len(one.prompt_ids)) + one.prompt_ids for one in requests])
        mask = torch.tensor(
            [[0] * (longest - len(one.prompt_ids)) + [1] * len(one.prompt_ids) for one in requests], dtype=torch.long
        )
        positions = (mask.cumsum(dim=1) - 1).clamp(min=0)
        heat = torch.tensor([[request.temperature] for request in requests])
        answers = [Generated([], []) for _ in requests]
        rows = torch.arange(len(requests))
        cache = DynamicCache(config=self.model.config)
        while len(rows) and self._goes.is_set():
            out = self.model(
                input_ids=ids,
                attention_mask=mask,
                position_ids=positions,
                past_key_values=cache,
                use_cache=True,
                logits_to_keep=1,
            )
            chosen, logprobs = self._choose(out.logits[:, -1].float(), heat)
            going = [
                self._goes_on(requests[row], answers[row], token, logprob)
                for row, token, logprob in zip(rows.tolist(), chosen.tolist(), logprobs.tolist(), strict=True)
            ]
            keep = torch.tensor(going, dtype=torch.bool).nonzero().squeeze(1)
            if len(keep) < len(rows):
                cache.batch_select_indices(keep)
            rows, heat = rows[keep], heat[keep]
            ids, positions = chosen[keep].unsqueeze(1), positions[keep, -1:] + 1
            mask = torch.cat([mask[keep], torch.ones(len(keep), 1, dtype=torch.long)], dim=1)
        cut = set(rows.tolist())
        return [one._replace(version=self.version, aborted=at in cut) for at, one in enumerate(answers)]

    def _choose(self, logits: torch.Tensor, heat: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        cold = heat.squeeze(1) == 0
        scores = torch.log_softmax(logits / heat.masked_fill(heat == 0, 1.0), dim=-1)
        chosen = torch.multinomial(scores.exp(), 1, generator=self._chance).squeeze(1)
        chosen = torch.where(cold, logits.argmax(dim=-1), chosen)
        return chosen, scores.gather(1, chosen.unsqueeze(1)).squeeze(1)

    def _goes_on(self, request: GenerationRequest, answer: Generated, token: int, logprob: float) -> bool:
        answer.token_ids.append(token)
        answer.logprobs.append(logprob)
        return token != self._end and len(answer.token_ids) < request.max_tokens
