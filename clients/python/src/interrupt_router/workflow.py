"""A workflow: its kinds of agents, and where the answers to their questions may go."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from .errors import FieldError, Invalid
from .schema import RequestSource, RequestType

if TYPE_CHECKING:
    from . import api


@dataclass(frozen=True)
class Route:
    """A place where answers may go, where more than its request has to be said."""

    request: RequestSource
    """What the model fills in: a pydantic model, a dataclass or a JSON Schema."""
    name: str | None = None
    """What people choose when they reroute. By default the first kind whose answers go there, else the field in capitals."""
    description: str | None = None
    """What a model reads about it. By default the request's own description."""


@dataclass(frozen=True)
class Kind:
    """A kind of agent, where more than its route has to be said."""

    origin: str | None = None
    """The field of the route that its answers take; without one they only go back to it."""
    fields: RequestSource | None = None
    """What its questions carry beside their words: a pydantic model, a dataclass or a JSON Schema."""


class Workflow:
    """What a worker registers.

    ``routes`` has the request of each route under the field in which the model gives it. ``kinds`` has the field of the
    route for each kind of agent, or None where answers only go back. The first kind leads a run::

        desk = Workflow(
            "desk",
            kinds={"REFUNDS": "refund", "LEGAL": "legal"},
            routes={"refund": RefundRequest, "legal": LegalRequest},
        )

    Objects are closed, and a schema that nothing bounds raises `InvalidSchema` with every place that needs a limit.
    """

    def __init__(
        self,
        name: str,
        *,
        kinds: Mapping[str, str | Kind | None],
        routes: Mapping[str, RequestSource | Route] | None = None,
    ) -> None:
        self.name = name
        """Its name; the worker's token is bound to it."""
        self._kinds = {kind: given if isinstance(given, Kind) else Kind(given) for kind, given in kinds.items()}
        self._routes = {
            field: given if isinstance(given, Route) else Route(given) for field, given in (routes or {}).items()
        }
        self._requests = {field: RequestType(route.request, field) for field, route in self._routes.items()}
        self._check()

    @property
    def root_kind(self) -> str:
        """The kind of a run's own agent, ``root``."""
        return next(iter(self._kinds))

    @property
    def kinds(self) -> tuple[str, ...]:
        """All kinds of agents."""
        return tuple(self._kinds)

    def registration(self) -> api.WorkflowBody:
        """The body that registers it."""
        return {
            "kinds": [self._kind(name, kind) for name, kind in self._kinds.items()],
            "routes": [self._route(field, route) for field, route in self._routes.items()],
        }

    def read_request(self, field: str, value: Any) -> Any:
        """The request of a route as the worker's code gets it."""
        request = self._requests.get(field)
        # A newer version of the workflow, registered by another worker, may have routes that this one does not know.
        return request.read(value) if request else value

    def _kind(self, name: str, kind: Kind) -> api.KindBody:
        body: api.KindBody = {"name": name, "origin": self._route_name(kind.origin) if kind.origin else name}
        if kind.fields is not None:
            body["fields"] = RequestType(kind.fields, name).schema
        return body

    def _route(self, field: str, route: Route) -> api.RouteBody:
        request = self._requests[field]
        body: api.RouteBody = {
            "name": self._route_name(field),
            "field": field,
            "request": request.name,
            "schema": request.schema,
        }
        description = route.description or request.schema.get("description")
        if description:
            body["description"] = description
        return body

    def _route_name(self, field: str) -> str:
        given = self._routes[field].name
        origins = (name for name, kind in self._kinds.items() if kind.origin == field)
        return given or next(origins, field.upper())

    def _check(self) -> None:
        errors = [] if self._kinds else [FieldError("/kinds", "a workflow has at least one kind of agent")]
        for name, kind in self._kinds.items():
            if kind.origin is not None and kind.origin not in self._routes:
                errors.append(FieldError(f"/kinds/{name}", f"there is no route with the field `{kind.origin}`"))
        names = [self._route_name(field) for field in self._routes]
        twice = sorted({name for name in names if names.count(name) > 1})
        errors += [FieldError("/routes", f"two routes are called `{name}`") for name in twice]
        for name, kind in self._kinds.items():
            if kind.origin is None and name in names:
                errors.append(FieldError(f"/kinds/{name}", "a route has its name: say that its answers go there"))
        if errors:
            raise Invalid(f"the workflow `{self.name}` contradicts itself", errors=errors)
