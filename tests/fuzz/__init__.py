"""Random and mutated requests to the API server, and what may never come of them (`python -m tests.fuzz`).

`requests` makes them of one seed, `mutations` spoils values, `run` sends them and looks at what comes back.
"""
