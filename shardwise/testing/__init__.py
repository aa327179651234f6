"""For those who write backends: the suite that every one of them must pass (needs pytest)."""
