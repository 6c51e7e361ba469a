"""Reads counts."""

from __future__ import annotations

from datetime import date
from typing import Any, Union
from urllib.parse import urlencode

from ._http import Client, authorization, operation_url

Bound = Union[str, date, None]
Row = dict[str, Any]


class Reader:
    """Reads the counts of a project. Failed requests raise a ``CallerStatsError`` with the server's message.

    The parameters are those of the HTTP API. A ``datetime`` without a time zone, a date and a period are in ``time_zone``. May
    be used by several threads.
    """

    def __init__(self, url: str, project_id: str, key: str, *, timeout: float = 30.0) -> None:
        """Raises a ``ValueError`` if an argument is malformed.

        :param key: a reading key of the project, or an admin key
        :param timeout: seconds to wait for an answer
        """
        operation_url(url, project_id, "")
        authorization(key)
        self._url, self._project_id, self._key, self._timeout = url, project_id, key, timeout

    def counts(
        self,
        *,
        date_from: Bound = None,
        date_to: Bound = None,
        period: str | None = None,
        time_zone: str | None = None,
        week_start: str | None = None,
        compare: str | None = None,
        caller: str | None = None,
    ) -> Row:
        """``web``, ``api``, ``other`` and ``total``; with ``compare``, also ``previous``."""
        asked = {"period": period, "timeZone": time_zone, "weekStart": week_start, "compare": compare, "caller": caller}
        answer: Row = self._get("caller-stats", date_from, date_to, asked)
        return answer

    def series(
        self,
        *,
        interval: str = "day",
        by: str | None = None,
        date_from: Bound = None,
        date_to: Bound = None,
        period: str | None = None,
        time_zone: str | None = None,
        week_start: str | None = None,
        compare: str | None = None,
        caller: str | None = None,
    ) -> list[Row]:
        """A row for each bucket, in order of time, for a table: ``pandas.DataFrame(reader.series())``.

        A row has ``start``, ``end``, ``web``, ``api``, ``other`` and ``total``; with ``compare``, also ``previous_start`` and so
        on, which are None if the bucket has no counterpart. With ``by="caller"`` there is a row for each bucket and caller
        instead, with ``start``, ``end``, ``caller``, ``type`` and ``count``; caller and type of all others together are None.
        """
        asked = {"period": period, "timeZone": time_zone, "weekStart": week_start, "compare": compare, "caller": caller}
        answer = self._get("caller-stats/series", date_from, date_to, {**asked, "interval": interval, "by": by})
        buckets = answer["buckets"]
        if by is None:
            return [_flatten(bucket) for bucket in buckets]
        callers = [*answer["callers"], {"caller": None, "type": None, "counts": answer["rest"]["counts"]}]
        return [
            {"start": bucket["start"], "end": bucket["end"], "caller": one["caller"], "type": one["type"], "count": count}
            for one in callers
            for bucket, count in zip(buckets, one["counts"])
        ]

    def callers(
        self,
        *,
        date_from: Bound = None,
        date_to: Bound = None,
        period: str | None = None,
        time_zone: str | None = None,
        week_start: str | None = None,
    ) -> list[Row]:
        """A row for each caller, largest count first: ``caller``, ``type`` and ``count``."""
        asked = {"period": period, "timeZone": time_zone, "weekStart": week_start}
        answer = self._get("callers", date_from, date_to, asked)
        rows: list[Row] = answer["callers"]
        return rows

    def _get(self, operation: str, date_from: Bound, date_to: Bound, asked: dict[str, str | None]) -> Any:
        bounds = {"dateFrom": _text(date_from), "dateTo": _text(date_to)}
        parameters = {name: value for name, value in {**bounds, **asked}.items() if value is not None}
        url = f"{operation_url(self._url, self._project_id, operation)}?{urlencode(parameters)}"
        client = Client(self._url, self._key)
        try:
            return client.request("GET", url, {"Accept": "application/json"}, None, self._timeout)
        finally:
            client.close()


def _text(bound: Bound) -> str | None:
    return bound.isoformat() if isinstance(bound, date) else bound


def _flatten(bucket: Row) -> Row:
    row = {name: value for name, value in bucket.items() if name != "previous"}
    if "previous" in bucket:
        previous = bucket["previous"] or dict.fromkeys(row)
        row.update({f"previous_{name}": value for name, value in previous.items()})
    return row
