"""A store that others try to turn against its user, and failures that must not stay."""
