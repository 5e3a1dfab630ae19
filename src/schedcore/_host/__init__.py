"""Where things meet: host, settings, plugins, control, doctor."""
