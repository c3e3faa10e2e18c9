"""Hadoop Streaming: mapper, combiner and reducer are commands, with the options of hadoop-streaming.

Imports `fronts/common`, the session, the engine and what is below; neither PySpark nor another way in.
"""
