"""Semantic search: the model, its vectors, and the component that updates them."""

from msgspec import Struct

from hermes_acp.core.ports.embedding_ports import Embedder
from hermes_acp.storage.search.vector_indexing import VectorIndexer
from hermes_acp.storage.search.vector_store import VectorStore


class SemanticIndex(Struct, frozen=True):
    """The components of semantic search."""

    embedder: Embedder
    vectors: VectorStore
    indexer: VectorIndexer
