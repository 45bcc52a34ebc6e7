"""LightRAG (lightrag-hku, MIT), as published: a knowledge graph beside a vector index (paper 2's M5)."""
