"""`MentorLoss` where people already train: Lightning, Hugging Face, scikit-learn.

Each module needs its own extra and is imported by its own name, for example
`from mentornet.integrations.lightning import MentorCallback`.
"""
