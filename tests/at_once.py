"""A pool for tests of pages that computes in this process, with no wait for another to start."""

import pickle
from collections.abc import Callable
from typing import Any

import cloudpickle

from normgeo.base.progress import Progress
from normgeo.base.refusal import Refusal
from normgeo.workers.run import Limits, Run


class AtOnce:
    """Computes immediately, in this process, and returns what another process would return.

    Attributes:
        asked: the keys of all computations.
        refuse: compute → the error with which it ends instead of its result; None to compute it.

    """

    limits = Limits()

    def __init__(self) -> None:
        self.spare = True
        self.asked: list[Any] = []
        self.refuse: Callable[[Any], Any] = lambda compute: None

    def ask(
        self,
        visitor: str,
        key: Any,
        compute: Any,
        *given: Any,
        on_end: Callable[[Run], object] | None = None,
        limits: Limits | None = None,
    ) -> Run:
        self.asked.append(key)
        run, error = Run(key, visitor, b"", on_end, limits), self.refuse(compute)
        if error is None:
            try:
                progress = Progress(give=run.given.append)
                result = pickle.loads(cloudpickle.dumps(compute(*given, progress)))
                run.end(result=result, whole=True)
            except Refusal as refusal:
                error = refusal
        if error is not None:
            run.end(error=error)
        return run
