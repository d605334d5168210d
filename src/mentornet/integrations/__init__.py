"""`MentorLoss` for Lightning, Hugging Face and scikit-learn.

Each module needs its own extra and is imported by its own name, for example
`from mentornet.integrations.lightning import MentorCallback`.
"""
