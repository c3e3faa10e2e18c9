"""Kinds of stages, one folder each: what identifies it, decides, runs, is kept. None knows another, or the driver."""
