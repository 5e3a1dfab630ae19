"""Every command by section, with the line that ``--help`` shows; nothing is imported to list them.

``runs list`` is the file ``commands/runs_list.py``, which holds ``command``. A test compares the lines here with
the commands' own.
"""

from __future__ import annotations

__all__ = ["GROUPS", "SECTIONS", "children"]

SECTIONS: dict[str, dict[str, str]] = {
    "Jobs": {
        "init": "Write a first schedcore.toml with an example job.",
        "add": "Add a job.",
        "list": "List the jobs, what comes next first.",
        "show": "Show everything about a job.",
        "edit": "Change a job.",
        "pause": "Stop opening slots of a job.",
        "resume": "Open slots of a paused job again.",
        "run": "Run a job now.",
        "remove": "Retire a job; its history stays.",
        "next": "Show the next slots of a job or an expression.",
        "why": "Say why a job ran, or did not, at a time.",
        "history": "Show who changed a job, when and why.",
        "backfill": "Run the slots of a past period that got no run.",
        "apply": "Make the jobs what a file declares.",
        "export": "Write the ledger as JSON lines.",
    },
    "Runs": {
        "runs list": "List runs, newest first.",
        "runs show": "Show everything about a run.",
        "runs logs": "Print what a run wrote.",
        "runs attempts": "List the attempts of a run.",
        "runs trace": "Show the events of a run in order.",
        "runs wait": "Wait until a run is final.",
        "runs cancel": "Stop a run.",
        "runs retry": "Run a final run's job again, linked to it.",
        "runs release": "Take a run from a host that is dead.",
    },
    "Engine": {
        "serve": "Run the engine until stopped.",
        "tick": "Do what is due, once, and exit.",
        "status": "Show how the engine is doing.",
        "doctor": "Look for what is wrong.",
        "halt": "Stop all claims, or let them go on.",
        "engine list": "List the hosts.",
        "engine drain": "Let a host finish its work and take no more.",
    },
    "Ledger": {
        "db upgrade": "Bring the ledger to this version's schema.",
        "db check": "Check whether the ledger is whole.",
        "db stats": "Count what is in the ledger.",
        "db backup": "Back the ledger up while hosts go on.",
        "db restore": "Put a backup in the ledger's place.",
        "db drill": "Try whether the newest backup can be restored.",
        "fsck": "Check that what the ledger says is true.",
        "events tail": "Print the newest events, and follow them.",
    },
    "Plugins": {
        "plugins list": "List the plugins and what they offer.",
        "plugins check": "Load every plugin and say what is wrong.",
        "plugins hooks": "List the hooks and who answers them.",
    },
    "Settings": {
        "config show": "Show every setting and where it comes from.",
        "config check": "Check the settings without starting anything.",
        "config path": "Print the path of the settings file.",
        "config schema": "Print the JSON Schema of the settings.",
        "completion": "Print the completion script of a shell.",
        "version": "Print the version.",
    },
}

GROUPS = {
    "runs": "Runs: what the ledger says about slots.",
    "engine": "Hosts: the processes that run jobs.",
    "db": "The ledger itself.",
    "events": "Events: the numbered lines of history.",
    "plugins": "Plugins: everything that does something.",
    "config": "The settings.",
}

_ALL = {path: line for section in SECTIONS.values() for path, line in section.items()}


def children(group: str = "") -> dict[str, str]:
    """The commands directly below a group, in order, with their lines; below the top for the empty text."""
    found: dict[str, str] = {}
    for path, line in _ALL.items():
        head, _, rest = path.partition(" ")
        if not group:
            found[head] = GROUPS[head] if rest else line
        elif head == group:
            found[rest] = line
    return found
