"""Finds documents by words, best first."""

from __future__ import annotations

from typing import Any


def search(query: str, documents: list[dict[str, Any]]) -> list[str]:
    """Names of the documents with every word of the query, by how often they have them, then by name."""
    words = query.lower().split()
    scored = []
    for document in documents:
        text = document["text"].lower().split()
        counts = [text.count(word) for word in words]
        if all(counts):
            scored.append((-sum(counts), document["name"]))
    return [name for _, name in sorted(scored)]
