"""`catalog infer`: families, keys and functions of a layout that nobody has described."""

from shardwise.inspection.inferring.deciding import Probe
from shardwise.inspection.inferring.inferring import infer
from shardwise.inspection.inferring.sampled import Member
from shardwise.inspection.inferring.schemas import add_schemas
from shardwise.inspection.inferring.survey import Server, Survey, listed

__all__ = ["Member", "Probe", "Server", "Survey", "add_schemas", "infer", "listed"]
