"""Worked examples and the validation on real projects; none of this is part of the installed package."""
