"""What MariaDB (MySQL) and PostgreSQL have in common as sources of the duckdb dialect.

Their columns have types, and `Backend.suits` sees to it that these are the catalog's. So most values are
canonical as they are; what is not says each product's `ServerWriter`.
"""
