"""The processes of one training, on one machine or many: who we are, and what the others saw.

Every rank computes its own part of a batch, and then they tell each other a few numbers a sample.
What follows from those, percentiles, weights, histories, mentors, every rank works out for the
whole batch, and so comes to the same result as one process would.
"""

from mentornet.ranks.even import EvenBatches
from mentornet.ranks.meeting import job, world_size
from mentornet.ranks.ranks import Ranks

__all__ = ["EvenBatches", "Ranks", "job", "world_size"]
