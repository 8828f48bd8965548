"""The answer of an embeddings endpoint: as much of it as is read here."""

from agent_client.models.completion import LenientModel


class Embedding(LenientModel):
    """One text's vector; `index` is the text's place among those that were asked."""

    index: int
    embedding: tuple[float, ...]


class Embeddings(LenientModel):
    """The vectors of one request."""

    data: tuple[Embedding, ...]
