"""Schemas of requests."""

from .limit import Limit
from .request_type import RequestSource, RequestType

__all__ = ["Limit", "RequestSource", "RequestType"]
