"""A campaign of hostile files and faults; `make campaign` runs it, and it is not in the wheel.

    python -m campaign                       about 30 minutes; continues where it was stopped
    python -m campaign --only readers --minutes 5 --seed 7
    python -m campaign --replay runs/campaign/failures/FILE.json

Each part tries many cases that are drawn from a seed, and counts how many of them held. A case that
failed is kept as a small file, which `--replay` tries again.
"""
