"""The plugin door: hooks, declarations, context, control. It imports the domain and markers only."""
