"""Schemas of requests."""

from .limit import Limit as Limit
from .request_type import RequestSource as RequestSource, RequestType as RequestType
