"""Statistics: estimates with 95% intervals, proportions and paired tests."""
