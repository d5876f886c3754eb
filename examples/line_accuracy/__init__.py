"""Comparisons of the line rules with what instrumenters and compilers call code."""
