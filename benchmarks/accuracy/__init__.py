"""Our own accuracy benchmark: its tables, its claims, its findings and its page."""
