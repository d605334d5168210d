"""Labels that rules, word lists and people gave: plain training, methods of others, and ours."""
