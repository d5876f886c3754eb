"""Relations for three projects from the package index: a parser, a codec, a formatter."""
