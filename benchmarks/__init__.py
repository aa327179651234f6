"""What shardwise costs: rows moved first, which no machine changes; time as ratios of paired runs."""
