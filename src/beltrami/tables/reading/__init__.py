"""Files and objects become a `Table`: one reader per form."""
