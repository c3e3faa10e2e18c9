"""Jobs that are kept current."""
