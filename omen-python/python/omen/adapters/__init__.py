"""The gate in frameworks for agents: a refused call comes back to the model as text on which it can act.

Each module needs the package of its framework, and none is imported before it is used.
"""
