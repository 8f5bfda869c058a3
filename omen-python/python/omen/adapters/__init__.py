"""The gate in agent frameworks: a refused call returns a text to the model, which says what to do.

Each module needs the package of its framework, and is imported only if it is used.
"""
