"""A third party's plugin whose hook raises."""
