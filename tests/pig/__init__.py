"""Pig Latin."""
