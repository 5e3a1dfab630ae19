"""Which sensitive things a script seems to do (E-13). Advice for a gate, not a sandbox.

``judge`` is pure: words, variable names and text in, classes and the words that matched out. A word
matches whole, in any case; ``unreadable`` stands for a script file whose text could not be had.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache

from schedcore.spec import SensitivityClass
from schedcore_script.environment import is_loader

__all__ = ["CLASSES", "UNREADABLE", "judge"]

UNREADABLE = "unreadable"

CLASSES: Mapping[str, tuple[str, ...]] = {
    "delete": (
        *(r"drop\s+(?:table|database|schema|index|view)", r"delete\s+from", r"truncate\s+table", r"of=\S+"),
        *(r"git\s+clean", r"git\s+reset\s+--hard"),
        *("rm", "rmdir", "unlink", "shred", "wipefs", "mkfs", r"mkfs\.\w+", "truncate", "fdisk", "parted"),
        *("delete", "deletes", "deleted", "remove", "removes", "purge", "erase", "wipe", "prune", "rmtree"),
        *(r"--delete\S*", "-delete", "remove-item", "flushall"),
        *(
            "supprimer",
            "supprime",
            "effacer",
            "efface",
            "vider",
            "eliminar",
            "borrar",
            "löschen",
            "删除",
            "清空",
        ),
    ),
    "credentials": (
        *("password", "passwords", "passwd", "passphrase", "secret", "secrets", "token", "tokens"),
        *("credential", "credentials", r"api[_-]?keys?", r"private[_-]?key", r"id_(?:rsa|dsa|ecdsa|ed25519)"),
        *(r"\.ssh/\S*", r"\.aws/\S*", r"\.netrc", r"\.pgpass", r"/etc/shadow", r"\.gnupg\S*"),
        *("keyring", "keychain", "bw", "bitwarden", "gpg", "vault", "getpass", "secret-tool", "printenv"),
        *(r"/proc/\w+/environ", "mot de passe", "密码"),
    ),
    "transfer": (
        *("curl", "wget", "scp", "sftp", "rsync", "ftp", "lftp", "tftp", "nc", "ncat", "netcat", "socat"),
        *(
            "telnet",
            r"(?<!\.)ssh",
            "rclone",
            "gsutil",
            "s3cmd",
            r"aws\s+s3",
            "azcopy",
            "sendmail",
            "mail",
            "mutt",
        ),
        *("upload", "uploads", "exfiltrate", r"git\s+push", "urllib", "httpx", r"requests\.\w+", "smtplib"),
        *(r"/dev/(?:tcp|udp)/\S+", "invoke-webrequest", "webhook", r"https?://\S+", "téléverser", "上传"),
    ),
    "power": (
        *("shutdown", "reboot", "poweroff", "halt", "hibernate", "suspend", "kexec", "telinit"),
        *(
            r"init\s+[06]",
            r"systemctl\s+(?:poweroff|reboot|halt|suspend|hibernate)",
            "rtcwake",
            "sysrq-trigger",
        ),
        *("éteindre", "redémarrer", "关机", "重启"),
    ),
    "privilege": (
        *("sudo", "su", "doas", "pkexec", "runuser", "visudo", "useradd", "usermod", "userdel", "groupadd"),
        *("chown", "setcap", "setfacl", "nsenter", "unshare", "chroot", "mount", "umount", "insmod"),
        *("modprobe", "sysctl", "iptables", "nft", "crontab", "chpasswd", "setuid", "ptrace", "gdb"),
        *(
            r"chmod\s+(?:-\w+\s+)*(?:[ugoa]*\+\w{0,9}s\w{0,9}|[2467]\d{3}|0?777)",
            r"systemctl\s+(?:enable|mask|edit)",
        ),
        *(r"docker\s+run", "--privileged", r"/etc/sudoers\S*", "authorized_keys", "eval"),
    ),
    "production_write": (
        *("prod", "production", "deploy", "deploys", "rollout", "rollback", "migrate", "publish", "release"),
        *(r"kubectl\s+(?:apply|delete|scale|patch|replace|set|create|drain|edit)", r"helm\s+\w+"),
        *(r"terraform\s+(?:apply|destroy|import)", "ansible-playbook", r"docker\s+push", r"twine\s+upload"),
        *(r"insert\s+into", r"update\s+\S+\s+set", r"alter\s+(?:table|role|user|database)", r"grant\s+\w+"),
        *(r"git\s+push", r"gh\s+release", "pg_restore", "mongorestore", "déployer", "部署", "生产"),
    ),
}

_SECRET_NAME = re.compile(
    r".*(?:TOKEN|SECRET|PASSWORD|PASSWD|PASSPHRASE|CREDENTIAL|API_?KEY|PRIVATE_?KEY|ACCESS_?KEY|_KEY).*",
    re.IGNORECASE,
)
_SHOWN = 20


def judge(
    words: Iterable[str],
    names: Iterable[str] = (),
    text: str = "",
    *,
    unreadable: Iterable[str] = (),
    extra: Sequence[SensitivityClass] = (),
) -> dict[str, tuple[str, ...]]:
    """Each class that holds, with the words that matched, in the order of the classes above."""
    said = " ".join(words)
    found: dict[str, tuple[str, ...]] = {}
    for name, pattern in _patterns(tuple(extra)):
        hits = [*pattern.findall(said), *pattern.findall(text)]
        if hits:
            found[name] = _distinct(hits)
    names = tuple(names)
    for name, hits in (
        ("credentials", [n for n in names if _SECRET_NAME.fullmatch(n)]),
        ("privilege", [n for n in names if is_loader(n)]),
        (UNREADABLE, list(unreadable)),
    ):
        if hits:
            found[name] = _distinct([*found.get(name, ()), *hits])
    return found


def _distinct(hits: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(" ".join(hit.split())[:80] for hit in hits))[:_SHOWN]


@lru_cache(maxsize=8)
def _patterns(extra: tuple[SensitivityClass, ...]) -> tuple[tuple[str, re.Pattern[str]], ...]:
    words = {name: list(patterns) for name, patterns in CLASSES.items()}
    for more in extra:
        words.setdefault(more.name, []).extend(re.escape(word) for word in more.words)
    return tuple((name, _compile(patterns)) for name, patterns in words.items())


def _compile(patterns: Iterable[str]) -> re.Pattern[str]:
    """One pattern for many words; ``_`` and ``-`` part words, but an option (``--rm``) is no word.

    No alternative may begin with a repetition: the text is up to 256 KiB of anybody's choice.
    """
    patterns = list(patterns)
    joined = [pattern for pattern in patterns if max(pattern) > "\u2e7f"]  # written without blanks
    parted = [pattern for pattern in patterns if pattern not in joined]
    whole = rf"(?<![^\W_])(?<!\s-)(?<!--)(?:{'|'.join(parted)})(?![^\W_])"
    return re.compile("|".join([whole, *joined]), re.IGNORECASE)
