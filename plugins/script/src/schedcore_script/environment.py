"""The environment a script is given, built from nothing (E-10). Pure: it is handed all it reads.

From weak to strong: the files of ``env_files`` (the first file wins, and none overwrites what anything
else sets), the plugin's PATH, inherited names, the payload's ``env``, the variables of the run.

An environment file has one ``NAME=VALUE`` a line. Blank lines and lines that begin with ``#`` are passed
over, a leading ``export`` is allowed. A value in single quotes is taken as it is; in double quotes ``\\n``,
``\\r``, ``\\t``, ``\\"``, ``\\$`` and ``\\\\`` are replaced; without quotes it ends before `` #`` and
its outer blanks are dropped. Nothing is expanded, and a value ends with its line.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

__all__ = ["EnvFileError", "build", "is_loader", "never", "parse_env_file"]

_LINE = re.compile(r"(?:export[ \t]+)?([A-Za-z_][A-Za-z0-9_]*)[ \t]*=[ \t]*(.*)", re.ASCII)
_SINGLE = re.compile(r"'([^']*)'[ \t]*(?:#.*)?")
_DOUBLE = re.compile(r'"((?:[^"\\]|\\.)*)"[ \t]*(?:#.*)?')
_ESCAPE = re.compile(r"\\(.)")
_ESCAPES = {"n": "\n", "r": "\r", "t": "\t", '"': '"', "$": "$", "\\": "\\"}
_COMMENT = re.compile(r"[ \t]#.*")

_LOADERS = re.compile(
    r"LD_.*|DYLD_.*|GLIBC_TUNABLES|PATH|IFS|ENV|BASH_ENV|BASH_FUNC_.*|SHELLOPTS|BASHOPTS|PS4|PROMPT_COMMAND"
    r"|CDPATH|GIT_.*|PYTHON.*|PERL5(LIB|OPT|DB)|PERLLIB|RUBY(OPT|LIB)|NODE_(OPTIONS|PATH)|JAVA_TOOL_OPTIONS"
    r"|_JAVA_OPTIONS|CLASSPATH|LUA_(PATH|CPATH|INIT).*|PHPRC|PHP_INI_SCAN_DIR|TCLLIBPATH|MALLOC_.*|GCONV_PATH"
    r"|LOCPATH|NLSPATH|(EDITOR|VISUAL|PAGER|BROWSER)|(HTTPS?|ALL)_PROXY|SSL_CERT_.*|CURL_HOME",
    re.ASCII | re.IGNORECASE,
)


class EnvFileError(ValueError):
    """An environment file that cannot be read; the message names file and line."""


def never(name: str) -> bool:
    """True for the variables of the service itself, which no script is given."""
    return name == "NOTIFY_SOCKET" or name.startswith("WATCHDOG_")


def is_loader(name: str) -> bool:
    """True for a variable that makes a loader, shell or interpreter run or load something else (T5)."""
    return _LOADERS.fullmatch(name) is not None


def build(
    path: str,
    variables: Mapping[str, str],
    env: Mapping[str, str],
    *,
    inherited: Mapping[str, str] | None = None,
    files: Iterable[Mapping[str, str]] = (),
) -> dict[str, str]:
    """Exactly the variables of one run."""
    result = {"PATH": path}
    if inherited:
        result.update(inherited)
    result.update(env)
    result.update(variables)
    for file in files:
        for name, value in file.items():
            result.setdefault(name, value)
    for name in [name for name in result if never(name)]:
        del result[name]
    return result


def parse_env_file(text: str, name: str) -> dict[str, str]:
    """The variables of one environment file; ``name`` is how errors call it."""
    result: dict[str, str] = {}
    for number, raw in enumerate(text.removeprefix("\ufeff").split("\n"), 1):
        line = raw.strip()
        if not line or line.startswith("#"):
            continue
        where = f"{name}, line {number}"
        if "\0" in line:
            raise EnvFileError(f"{where}: there is a NUL in it")
        found = _LINE.fullmatch(line)
        if found is None:
            raise EnvFileError(f"{where}: expected NAME=VALUE")
        result[found[1]] = _value(found[2], where)
    return result


def _value(text: str, where: str) -> str:
    if text.startswith("'"):
        found = _SINGLE.fullmatch(text)
        if found is None:
            raise EnvFileError(f"{where}: the single quote is not closed, or text follows it")
        return found[1]
    if text.startswith('"'):
        found = _DOUBLE.fullmatch(text)
        if found is None:
            raise EnvFileError(f"{where}: the double quote is not closed, or text follows it")
        return _ESCAPE.sub(lambda e: _ESCAPES.get(e[1], e[0]), found[1])
    if text.startswith("#"):
        return ""
    return _COMMENT.split(text, maxsplit=1)[0].rstrip()
