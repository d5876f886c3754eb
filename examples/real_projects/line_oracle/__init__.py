"""An independent answer to "which physical lines ran, for which passing test".

It shares no code and no idea with the tool under validation: changed files are compiled from a syntax tree in which
every evaluated expression and every started statement is marked. Standard library only; runs in the tested interpreter.
"""
