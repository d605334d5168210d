"""Stands in for torchmetrics in the processes that tests start.

Lightning Fabric imports torchmetrics only to read its version, and torchmetrics imports
transformers, SciPy and Matplotlib where they are installed. That is nearly half of what a training
process needs to start.
"""

__version__ = "1.0.0"
