"""The one room behind command line, REST and MCP: what anybody may ask and order (``design.md`` 4).

Every order is one writing transaction, recorded with actor and reason, and answered only after its commit
(P-16, P-25); every read changes nothing (P-27); every answer is JSON-ready.
"""

from __future__ import annotations

from schedcore._host.control.door import Control

__all__ = ["Control"]
