"""What this plugin declares to its host."""
