"""Drives a `plan.Run`: requests out, batches in, the merge. Decides nothing that changes the answer."""
