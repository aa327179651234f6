"""The mysql and postgres dialects' way through the executor: described, and merged, by a server of the dialect."""
