"""How sides of a join that is not colocated meet: see README.md."""
