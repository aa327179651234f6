"""`python -m shardwise.cli`."""

import sys

from shardwise.cli.app import main

sys.exit(main())
