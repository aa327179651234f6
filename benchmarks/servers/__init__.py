"""What MariaDB and PostgreSQL shards cost: `make bench-servers`.

Servers are the tests' own (`tests/servers`): two MariaDB, one PostgreSQL; a third MariaDB is started for its
Spider engine. Peers that cannot be had are named in the page. A quick look: SCALE=0.01 ROUNDS=3
PRODUCTS=mysql PARTS="bulk points tpch faults" make bench-servers.
"""
