"""Named datasets, each described in its own file; `registry` lists them."""
