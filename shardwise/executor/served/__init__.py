"""The mysql and postgres dialects' way through the executor: a server of the dialect describes and merges."""
