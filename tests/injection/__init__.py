"""Values and names that would break out of their quotes, on every dialect: what comes back is what went in,
and no other statement runs."""
