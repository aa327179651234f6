"""Worker processes: reading in Python that must not hold up everything else that runs in this one."""
