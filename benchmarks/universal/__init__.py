"""The universal mentor: a corpus of runs, what is learned from it, and how well it carries over."""
