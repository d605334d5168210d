"""The processes of one training, on one machine or several, and what they exchange.

Every process computes its own part of a batch. Then the processes exchange a few numbers per
sample. From these each of them computes loss levels, weights, histories and mentors for the whole
batch, so the result is the same as that of a single process.
"""

from mentornet.distributed.even_batches import EvenBatches
from mentornet.distributed.meeting import job, world_size
from mentornet.distributed.processes import Processes

__all__ = ["EvenBatches", "Processes", "job", "world_size"]
