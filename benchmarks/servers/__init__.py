"""What MariaDB and PostgreSQL shards cost: `make bench-servers`.

Servers are the tests' own (`tests/servers`): two MariaDB, one PostgreSQL; another MariaDB is started for its
Spider engine, and one of each to be stopped. make installs peers into .cache/peers; those that cannot be had
are named in the page. A quick look:

    SCALE=0.01 ROUNDS=3 PRODUCTS=mysql PARTS="bulk points faults tpch mixed" make bench-servers
"""
