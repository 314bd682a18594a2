"""The paper's experiments: protocols, runs, sweeps and the store of their results."""
