"""The denylist brought to where agents run: hooks of agents, a read-only shell around them, hooks of git.

What is here makes honest mistakes visible early. It never replaces the gate, which judges what was written in the end.
"""
