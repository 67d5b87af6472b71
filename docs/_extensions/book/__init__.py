"""The machinery of the book: gather pages, run their code, build, check links."""
