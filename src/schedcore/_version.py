"""The one version, of the core and of every plugin, and the one name of the distribution.

The import name and the command are ``schedcore``; on the package index that name belongs to an
unrelated project, so the distribution is called otherwise. Build tools read this file as text.
"""

from __future__ import annotations

__version__ = "0.1.0"

DISTRIBUTION = "schedcore-host"
