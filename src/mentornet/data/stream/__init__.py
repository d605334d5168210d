"""Data that stays in its files until a step needs it: shards, views and worker processes."""
