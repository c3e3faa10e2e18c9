"""Kinds of stages, one folder each: what identifies it, decides, runs and is kept. None knows another, or the driver."""
