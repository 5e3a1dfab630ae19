"""Triggers, and notes at slots, in French and in Chinese: whole sentences, as a person would say them."""

from __future__ import annotations

from typing import Any

import pytest
from tests.domain.moments import utc

from schedcore.domain.describe import describe
from schedcore.domain.preview import preview
from schedcore.domain.trigger import Trigger

NOW = utc("2026-03-07T12:00")
PARIS = "Europe/Paris"
SPACE = "\u00a0"

CRON = [
    ("* * * * *", "toutes les minutes", "每分钟"),
    ("*/15 * * * *", "toutes les 15 minutes", "每15分钟"),
    ("@hourly", "toutes les heures, à l'heure pile", "每小时整点"),
    ("5 * * * *", "toutes les heures, à la minute 5", "每小时的第5分"),
    ("5/15 * * * *", "toutes les heures, aux minutes 5, 20, 35 et 50", "每小时的第5、20、35和50分"),
    ("0 */2 * * *", "toutes les 2 heures, à la minute 0", "每2小时的第0分"),
    ("0,30 */2 * * *", "toutes les 2 heures, aux minutes 0 et 30", "每2小时的第0和30分"),
    ("5 9-17 * * *", "de 9 h à 17 h, à la minute 5", "9时至17时的第5分"),
    (
        "*/7 9 * * *",
        "à 9 h, aux minutes 0, 7, 14, 21, 28, 35, 42, 49 et 56",
        "9时的第0、7、14、21、28、35、42、49和56分",
    ),
    ("* 9 * * *", "toutes les minutes de 09:00 à 09:59", "09:00至09:59每分钟"),
    ("0 9 * * *", "tous les jours à 09:00", "每天09:00"),
    ("0 9,17 * * *", "tous les jours à 09:00 et 17:00", "每天09:00和17:00"),
    ("0 9 * * 1-5", "du lundi au vendredi à 09:00", "每周一至周五09:00"),
    ("30 10 * * 6,0", "le week-end à 10:30", "每周末10:30"),
    ("0 0 * * SUN", "le dimanche à 00:00", "每周日00:00"),
    ("0 9 * * 1,3,5", "le lundi, le mercredi et le vendredi à 09:00", "每周一、周三和周五09:00"),
    ("0 9 * * 1,3-5", "le lundi et du mercredi au vendredi à 09:00", "每周一和周三至周五09:00"),
    ("0 9 * * FRI-SUN", "du vendredi au dimanche à 09:00", "每周五至周日09:00"),
    ("30 2 1 * *", "le 1er du mois à 02:30", "每月1日02:30"),
    ("0 9 1,15 * *", "le 1er et le 15 du mois à 09:00", "每月1日和15日09:00"),
    ("15 8 1-20 * *", "du 1er au 20 du mois à 08:15", "每月1日至20日08:15"),
    ("0 0 L * *", "le dernier jour du mois à 00:00", "每月最后一天00:00"),
    ("0 9 * * 5#2", "le deuxième vendredi du mois à 09:00", "每月第二个周五09:00"),
    (
        "0 9 * * 5#2,1#5",
        "le deuxième vendredi et le cinquième lundi du mois à 09:00",
        "每月第二个周五和第五个周一09:00",
    ),
    ("0 12 13 * FRI", "le 13 du mois ou le vendredi à 12:00", "每月13日或每周五12:00"),
    (
        "0 12 1-7 * */7",
        "le dimanche (seulement du 1er au 7 du mois) à 12:00",
        "每周日（仅限每月1日至7日）12:00",
    ),
    (
        "0 0 1 JAN,jul *",
        "le 1er du mois, en janvier et en juillet, à 00:00",
        "每年1月和7月，每月1日00:00",
    ),
    ("0 9 * 3-5 6,0", "le week-end, de mars à mai, à 09:00", "每年3月至5月，每周末09:00"),
    ("0 9 1 4-6 *", "le 1er du mois, d'avril à juin, à 09:00", "每年4月至6月，每月1日09:00"),
    ("0 9 * 8 *", "tous les jours en août, à 09:00", "每年8月，每天09:00"),
    (
        "*/10 9-17 * * MON-FRI",
        "du lundi au vendredi toutes les 10 minutes de 09:00 à 17:50",
        "每周一至周五09:00至17:50每10分钟",
    ),
]


@pytest.mark.parametrize(("text", "french", "chinese"), CRON, ids=[text for text, _, _ in CRON])
def test_a_cron_is_said_with_its_zone(text: str, french: str, chinese: str):
    trigger = Trigger.parse({"cron": text, "zone": PARIS}, now_us=NOW)

    assert describe(trigger, "fr") == f"{french} (Europe/Paris)"
    assert describe(trigger, "zh") == f"{chinese}（Europe/Paris）"


OTHERS = [
    ({"every": "1m"}, "toutes les minutes", "每分钟"),
    ({"every": "30m"}, "toutes les 30 minutes", "每30分钟"),
    ({"every": "1h"}, "toutes les heures", "每小时"),
    ({"every": "90m"}, "toutes les 1 h 30 min", "每1小时30分钟"),
    ({"every": "1d"}, "toutes les 24 heures", "每24小时"),
    ({"every": "1w"}, "tous les 7 jours de 24 heures", "每7天（每天24小时）"),
    (
        {"every": "2h", "anchor": "2026-01-01T00:30Z"},
        "toutes les 2 heures, à compter du 2026-01-01T00:30:00+00:00",
        "每2小时，从2026-01-01T00:30:00+00:00算起",
    ),
    (
        {"at": "2026-03-09T02:30", "zone": PARIS},
        "une seule fois, le 2026-03-09T02:30:00+01:00 (Europe/Paris)",
        "仅一次，2026-03-09T02:30:00+01:00（Europe/Paris）",
    ),
    (
        {"cron": "30 2 * * *", "gap": "skip", "fold": "second", "count": 3, "jitter": 90},
        (
            f"tous les jours à 02:30 (UTC){SPACE}; au plus 3 fois{SPACE}; "
            f"avec un retard de moins de 1 minute et 30 secondes{SPACE}; "
            f"une heure que l'horloge saute est omise{SPACE}; "
            "une heure qui se présente deux fois compte la seconde fois"
        ),
        ("每天02:30（UTC）；最多3次；推迟少于1分钟30秒；被时钟跳过的时刻不执行；出现两次的时刻只算第二次"),
    ),
    (
        {"cron": "30 2 * * *", "gap": "shift", "fold": "both"},
        (
            f"tous les jours à 02:30 (UTC){SPACE}; "
            f"une heure que l'horloge saute est décalée de la durée du saut{SPACE}; "
            "une heure qui se présente deux fois compte les deux fois"
        ),
        "每天02:30（UTC）；被时钟跳过的时刻，按跳过的时长顺延；出现两次的时刻两次都算",
    ),
    (
        {"every": "5m", "not_before": "2026-07-01T00:00", "not_after": "2026-08-01T00:00"},
        (
            f"toutes les 5 minutes{SPACE}; à partir du 2026-07-01T00:00:00+00:00{SPACE}; "
            "jusqu'au 2026-08-01T00:00:00+00:00"
        ),
        "每5分钟；自2026-07-01T00:00:00+00:00起；至2026-08-01T00:00:00+00:00止",
    ),
]


@pytest.mark.parametrize(("data", "french", "chinese"), OTHERS, ids=[str(data)[:40] for data, _, _ in OTHERS])
def test_the_other_kinds_and_what_limits_them_are_said_too(data: dict[str, Any], french: str, chinese: str):
    trigger = Trigger.parse(data, now_us=NOW)

    assert describe(trigger, "fr") == french
    assert describe(trigger, "zh") == chinese


SPRING, AUTUMN = "2026-03-28T23:30", "2026-10-24T22:30"
NOTES = [
    (
        {"cron": "30 2 * * *"},
        SPRING,
        f"02:30 n'existe pas le 2026-03-29{SPACE}; déclenchement dès la fin du saut",
        "2026-03-29没有02:30；时钟跳过后立即执行",
    ),
    (
        {"cron": "0,30 2 * * *"},
        SPRING,
        (
            f"les heures de 02:00 à 02:30 n'existent pas le 2026-03-29{SPACE}; "
            "un seul déclenchement, dès la fin du saut"
        ),
        "2026-03-29没有02:00至02:30；时钟跳过后立即执行一次",
    ),
    (
        {"cron": "30 2 * * *", "gap": "shift"},
        SPRING,
        f"02:30 n'existe pas le 2026-03-29{SPACE}; déplacé à 03:30",
        "2026-03-29没有02:30；改为03:30",
    ),
    (
        {"cron": "30 2 * * *", "gap": "skip"},
        SPRING,
        "02:30 n'existe pas le 2026-03-29 et n'a pas de créneau",
        "2026-03-29没有02:30，该时刻不执行",
    ),
    (
        {"cron": "*/30 2 * * *"},
        SPRING,
        "les heures de 02:00 à 02:30 n'existent pas le 2026-03-29 et n'ont pas de créneau",
        "2026-03-29没有02:00至02:30，这些时刻不执行",
    ),
    (
        {"cron": "30 2 * * *"},
        AUTUMN,
        f"02:30 se présente deux fois le 2026-10-25{SPACE}; ici, la première fois",
        "2026-10-25有两次02:30；这是第一次",
    ),
    (
        {"cron": "30 2 * * *", "fold": "second"},
        AUTUMN,
        f"02:30 se présente deux fois le 2026-10-25{SPACE}; ici, la seconde fois",
        "2026-10-25有两次02:30；这是第二次",
    ),
]


@pytest.mark.parametrize(("data", "after", "french", "chinese"), NOTES)
def test_a_slot_that_a_clock_change_touches_says_how(
    data: dict[str, Any], after: str, french: str, chinese: str
):
    trigger = Trigger.parse({"zone": PARIS, **data}, now_us=utc("2026-01-01"))

    notes = {lang: preview(trigger, utc(after), 1, lang=lang)[0].note for lang in ("fr", "zh")}

    assert notes == {"fr": french, "zh": chinese}
