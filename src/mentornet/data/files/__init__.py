"""Readers of files that people bring: folders, tables, images, labels."""
