"""What a connection may see, and what that means for each table."""
