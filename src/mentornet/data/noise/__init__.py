"""Label noise, as pure functions of the labels and a seed."""
