"""The processes of one training, on one machine or many: who we are, and what the others saw.

Every rank computes its own part of a batch, and then they tell each other a few numbers a sample.
What follows from those, percentiles, weights, histories, mentors, every rank works out for the
whole batch, and so comes to the same result as one process would.
"""

from mentornet.distributed.even_batches import EvenBatches
from mentornet.distributed.meeting import job, world_size
from mentornet.distributed.processes import Processes

__all__ = ["EvenBatches", "Processes", "job", "world_size"]
