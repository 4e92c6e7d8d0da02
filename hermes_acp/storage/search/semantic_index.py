"""Search by meaning: the model, the vectors it made, and what keeps them up to date."""

from msgspec import Struct

from hermes_acp.core.ports.embedding_ports import Embedder
from hermes_acp.storage.search.vector_indexing import VectorIndexer
from hermes_acp.storage.search.vector_store import VectorStore


class SemanticIndex(Struct, frozen=True):
    """What it takes to compare meanings."""

    embedder: Embedder
    vectors: VectorStore
    indexer: VectorIndexer
