"""`catalog infer`: families, keys and functions of a layout that nobody has described."""

from shardwise.inspection.inferring.deciding import Probe
from shardwise.inspection.inferring.inferring import infer
from shardwise.inspection.inferring.sampled import Member

__all__ = ["Member", "Probe", "infer"]
