"""Texts as vectors, by a model behind an OpenAI-compatible endpoint."""

from collections.abc import Sequence

from agent_client.errors import ConversationTooLong, EndpointDown, EndpointRefused
from agent_client.models.endpoint import Endpoint
from synth.llm.writer import PromptTooLong, WriterRefused, WriterUnreachable


class Embedder:
    """One model of an endpoint, which whoever makes this has entered."""

    def __init__(self, endpoint: Endpoint, model: str) -> None:
        self._endpoint = endpoint
        self.model = model

    async def vectors(self, texts: Sequence[str]) -> list[tuple[float, ...]]:
        """A vector for each text. Raises WriterUnreachable, WriterRefused, or PromptTooLong."""
        try:
            return await self._endpoint.embed(self.model, texts)
        except EndpointDown as error:
            raise WriterUnreachable(f"--embeddings {self.model}: {error}") from error
        except EndpointRefused as error:
            raise WriterRefused(f"--embeddings {self.model}: {error}") from error
        except ConversationTooLong as error:
            raise PromptTooLong(f"--embeddings {self.model}: {error}") from error
