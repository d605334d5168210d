"""The paper's tables and figures as data, and what runs, compares and draws them."""
