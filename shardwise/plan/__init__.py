"""What a plan is: nodes, their SQL, the run protocol, and how EXPLAIN prints it. See README.md."""
