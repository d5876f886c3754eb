"""Drafts of relations: asked of a model or written from templates, tried in the sandbox, accepted by people.

A draft is data and has no authority: it lies outside of the checkout, and discharges nothing whatever it contains. Only
a relation that people landed does.
"""
