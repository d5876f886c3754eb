"""The names inside of an archive that is about to be unpacked."""

from __future__ import annotations

import os
from itertools import islice

_LARGEST = 64 << 20
_MOST = 5000


def names(path: str) -> tuple[str, ...]:
    """The names of the first members of a tar or zip file; none for what is not there, too large or damaged."""
    import tarfile
    import zipfile
    import zlib

    try:
        if not os.path.isfile(path) or os.path.getsize(path) > _LARGEST:
            return ()
        if zipfile.is_zipfile(path):
            with zipfile.ZipFile(path) as archive:
                return tuple(archive.namelist()[:_MOST])
        with tarfile.open(path) as members:
            return tuple(member.name for member in islice(members, _MOST))
    except (OSError, tarfile.TarError, zipfile.BadZipFile, EOFError, ValueError, zlib.error):
        return ()
