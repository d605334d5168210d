"""Jobs in an order in which they can be made: each after those that it needs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from mentornet.experiments.jobs import Job

__all__ = ["Order"]


class Order:
    """Hands out jobs whose needs are met.

    What a job needs and is not among the jobs is taken to be there already.

    Args:
        jobs: in the order in which they are wanted.
    """

    def __init__(self, jobs: Iterable[Job]) -> None:
        self._waiting = list(jobs)
        self._open = {job.key for job in self._waiting}

    @property
    def left(self) -> bool:
        """Whether there are jobs that nobody has taken yet."""
        return bool(self._waiting)

    def take(self) -> Job | None:
        """The next job that can be made now; None if all that are left wait for others."""
        for place, job in enumerate(self._waiting):
            if not any(needed.key in self._open for needed in job.needs):
                return self._waiting.pop(place)
        return None

    def made(self, job: Job) -> None:
        """Note that a job has a result."""
        self._open.discard(job.key)

    def failed(self, job: Job) -> Iterator[Job]:
        """Note that a job failed, and yield those that cannot be made without it."""
        for other in list(self._waiting):
            if other in self._waiting and any(needed.key == job.key for needed in other.needs):
                self._waiting.remove(other)
                yield other
                yield from self.failed(other)
