"""What happens: tick, work, recover, deliver, loop. It knows no SQL and no pluggy."""
