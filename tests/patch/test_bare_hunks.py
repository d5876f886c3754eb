"""Hunks without context are read all at once; they must say what they say when they are read one by one."""

from __future__ import annotations

import pytest

from linewitness.errors import PatchError
from linewitness.patch.unified import Section, parse

BODIES = {
    "one for one": b"@@ -3 +3 @@ f\n-a\n+b\n@@ -9 +9 @@\n-c\n+d\n",
    "grows and shrinks": b"@@ -1,2 +1 @@\n-a\n-b\n+c\n@@ -7,0 +7,2 @@\n+d\n+e\n@@ -9,3 +9,0 @@\n-f\n-g\n-h\n",
    "content like headers": b"@@ -1 +1 @@\n--- a/x\n+++ b/x\n@@ -4 +4 @@\n-@@ -1 +1 @@\n+diff --git a/x b/x\n",
    "no line end": b"@@ -1 +1 @@\n-a\n+b\n@@ -9 +9 @@\n-c\n\\ No newline at end of file\n+d\n",
    "context behind": b"@@ -1 +1 @@\n-a\n+b\n@@ -4,2 +4,2 @@\n-c\n+d\n e\n",
}
BROKEN = {
    "overlaps": b"@@ -3,2 +3,2 @@\n-a\n-b\n+c\n+d\n@@ -4 +4 @@\n-b\n+e\n",
    "drifts": b"@@ -3 +3 @@\n-a\n+b\n@@ -9 +10 @@\n-c\n+d\n",
    "empty": b"@@ -3 +3 @@\n-a\n+b\n@@ -9,0 +9,0 @@\n",
    "fewer lines than told": b"@@ -3,2 +3 @@\n-a\n+b\n",
}


def read(header: bytes, body: bytes) -> Section:
    (section,) = parse(header + b"--- a/x.py\n+++ b/x.py\n" + body)
    return section


@pytest.mark.parametrize("body", BODIES.values(), ids=BODIES.keys())
def test_a_section_of_git_gives_the_hunks_of_a_plain_one(body: bytes) -> None:
    header = b"diff --git a/x.py b/x.py\nindex 1111111..2222222 100644\n"
    ours, theirs = read(header, body), read(b"", body)
    places = [
        [at - shift for at in section.groups[n::7]]
        for section, shift in ((ours, len(header)), (theirs, 0))
        for n in (4, 5, 6)
    ]
    assert places[:3] == places[3:]
    assert [list(ours.groups[n::7]) for n in range(4)] == [list(theirs.groups[n::7]) for n in range(4)]
    assert (ours.unended, len(ours.contexts)) == (theirs.unended, len(theirs.contexts))
    assert len(ours.groups) >= 7


@pytest.mark.parametrize("body", BROKEN.values(), ids=BROKEN.keys())
def test_hunks_that_cannot_be_are_refused_however_they_are_read(body: bytes) -> None:
    header = b"diff --git a/x.py b/x.py\nindex 1111111..2222222 100644\n"
    for start in (header, b""):
        with pytest.raises(PatchError):
            read(start, body)
