"""The same applications on incoop and on what people use instead."""
