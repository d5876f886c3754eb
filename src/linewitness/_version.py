"""The version, and nothing else: ``linewitness --version`` and the build both read it here."""

__version__ = "0.1.0"
