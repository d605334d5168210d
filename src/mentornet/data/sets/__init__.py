"""Named datasets, one file each."""
