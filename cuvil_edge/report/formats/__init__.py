"""One file a report format; found by scanning this folder."""
