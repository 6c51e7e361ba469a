"""Records the queries that people send to an assistant, and reads their exact counts from a caller-stats server."""

from ._query import Query
from ._version import VERSION as __version__
from .callers import KNOWN_CALLERS, KnownCaller, caller_rules_problems, detect_caller
from .errors import (
    AuthenticationError,
    CallerStatsError,
    ForbiddenError,
    InvalidRequestError,
    NoResponseError,
    NotFoundError,
    RateLimitError,
    ServerError,
)
from .middleware import AsgiQuestions, WsgiQuestions
from .reader import Reader
from .recorder import Recorder, RecorderStats

__all__ = [
    "AsgiQuestions",
    "Reader",
    "WsgiQuestions",
    "AuthenticationError",
    "CallerStatsError",
    "ForbiddenError",
    "InvalidRequestError",
    "KNOWN_CALLERS",
    "KnownCaller",
    "NoResponseError",
    "NotFoundError",
    "Query",
    "RateLimitError",
    "Recorder",
    "RecorderStats",
    "ServerError",
    "__version__",
    "caller_rules_problems",
    "detect_caller",
]
