"""Plans that are kept for the same statement with other values."""
