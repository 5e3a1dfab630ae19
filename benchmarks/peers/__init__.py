"""The peers: each drains as many of its own jobs that do nothing, set as its documentation says is fastest."""
