"""Triggers and slots in French: the days first, then the time. Before ``;`` stands a space that does not break."""

from __future__ import annotations

from schedcore.domain.words import Words

__all__ = ["FRENCH"]

_DAY = 86_400
_UNITS = ((3_600, "heure", "h"), (60, "minute", "min"), (1, "seconde", "s"))
_VOWELS = "aeiouAEIOU"


def _listed(items: list[str]) -> str:
    return " et ".join([", ".join(items[:-1]), items[-1]] if len(items) > 1 else items)


def _counted(seconds: int) -> list[tuple[int, str, str]]:
    parts = []
    for size, unit, short in _UNITS:
        count, seconds = divmod(seconds, size)
        if count:
            parts.append((count, f"{unit}s" if count > 1 else unit, short))
    return parts


def _days(seconds: int) -> str | None:
    return f"{seconds // _DAY} jours de 24 heures" if seconds > _DAY and seconds % _DAY == 0 else None


def _length(seconds: int) -> str:
    parts = [f"{count} {unit}" for count, unit, _ in _counted(seconds)]
    return _days(seconds) or _listed(parts) or "0 seconde"


def _each(seconds: int) -> str:
    if days := _days(seconds):
        return f"tous les {days}"
    parts = _counted(seconds)
    if len(parts) > 1:
        return "toutes les " + " ".join(f"{count} {short}" for count, _, short in parts)
    (count, unit, _) = parts[0]
    return f"toutes les {count} {unit}" if count > 1 else f"toutes les {unit}s"


def _weekday(first: str, last: str | None) -> str:
    return f"le {first}" if last is None else f"du {first} au {last}"


def _month(first: str, last: str | None) -> str:
    if last is None:
        return f"en {first}"
    return f"d'{first} à {last}" if first[0] in _VOWELS else f"de {first} à {last}"


def _monthday(first: str, last: str | None) -> str:
    return _weekday("1er" if int(first) == 1 else first, last)


def _hour(first: str, last: str | None) -> str:
    return f"à {first} h" if last is None else f"de {first} h à {last} h"


def _minute(first: str, last: str | None) -> str:
    return first if last is None else f"{first} à {last}"


FRENCH = Words(
    code="fr",
    weekdays=("dimanche", "lundi", "mardi", "mercredi", "jeudi", "vendredi", "samedi"),
    months=(
        *("janvier", "février", "mars", "avril", "mai", "juin"),
        *("juillet", "août", "septembre", "octobre", "novembre", "décembre"),
    ),
    ordinals=("premier", "deuxième", "troisième", "quatrième", "cinquième"),
    listed=_listed,
    weekday=_weekday,
    month=_month,
    monthday=_monthday,
    hour=_hour,
    minute=_minute,
    each=_each,
    length=_length,
    patterns={
        "minutely": "toutes les minutes",
        "minutes": "toutes les {n} minutes",
        "hourly": "toutes les heures, à l'heure pile",
        "hourly_at": "toutes les heures, à la minute {minutes}",
        "hourly_at_many": "toutes les heures, aux minutes {minutes}",
        "hours": "toutes les {n} heures, à la minute {minutes}",
        "hours_many": "toutes les {n} heures, aux minutes {minutes}",
        "times": "à {times}",
        "minutely_from": "toutes les minutes de {first} à {last}",
        "minutes_from": "toutes les {n} minutes de {first} à {last}",
        "minutes_of_hours": "{hours}, à la minute {minutes}",
        "minutes_of_hours_many": "{hours}, aux minutes {minutes}",
        "daily": "tous les jours",
        "workdays": "du lundi au vendredi",
        "weekend": "le week-end",
        "weekdays": "{weekdays}",
        "day": "{days} du mois",
        "days": "{days} du mois",
        "last_day": "le dernier jour du mois",
        "nth": "{nths} du mois",
        "nth_item": "le {which} {weekday}",
        "day_or_weekday": "{day} ou {weekday}",
        "day_and_weekday": "{weekdays} (seulement {days} du mois)",
        "months": "{months}",
        "time": "{time}",
        "time_day": "{day} {time}",
        "time_month": "tous les jours {month}, {time}",
        "time_day_month": "{day}, {month}, {time}",
        "in_zone": "{what} ({zone})",
        "every": "{length}",
        "every_from": "{length}, à compter du {anchor}",
        "at": "une seule fois, le {local}",
        "plugin": "{kind} {text}",
        "no_trigger": "sans déclencheur",
        "with": "{what}\u00a0; {more}",
        "from": "à partir du {instant}",
        "until": "jusqu'au {instant}",
        "count": "au plus {n} fois",
        "jitter": "avec un retard de moins de {length}",
        "gap_shift": "une heure que l'horloge saute est décalée de la durée du saut",
        "gap_skip": "une heure que l'horloge saute est omise",
        "fold_second": "une heure qui se présente deux fois compte la seconde fois",
        "fold_both": "une heure qui se présente deux fois compte les deux fois",
        "note_gap_at_once": "{wall} n'existe pas le {day}\u00a0; déclenchement dès la fin du saut",
        "note_gap_at_once_many": (
            "les heures de {wall} à {until} n'existent pas le {day}\u00a0; "
            "un seul déclenchement, dès la fin du saut"
        ),
        "note_gap_shift": "{wall} n'existe pas le {day}\u00a0; déplacé à {fires}",
        "note_gap_skipped": "{wall} n'existe pas le {day} et n'a pas de créneau",
        "note_gap_skipped_many": (
            "les heures de {wall} à {until} n'existent pas le {day} et n'ont pas de créneau"
        ),
        "note_fold_first": "{wall} se présente deux fois le {day}\u00a0; ici, la première fois",
        "note_fold_second": "{wall} se présente deux fois le {day}\u00a0; ici, la seconde fois",
        "calendar_drop": "hors des fermetures du calendrier {name}",
        "calendar_move": "déplacé hors des fermetures du calendrier {name}",
        "calendar_keep": "même pendant les fermetures du calendrier {name}",
        "closing_dropped": "supprimé, car le calendrier {calendar} est fermé\u00a0: {entry}",
        "closing_dropped_many": "{n} créneaux supprimés (le premier\u00a0: calendrier {calendar} fermé, {entry})",
        "closing_kept": "maintenu, bien que le calendrier {calendar} soit fermé\u00a0: {entry}",
        "closing_moved_here": "déplacé depuis {other}, car le calendrier {calendar} est fermé\u00a0: {entry}",
        "closing_moved_away": "déplacé vers {other}, car le calendrier {calendar} est fermé\u00a0: {entry}",
        "closing_before": "juste avant\u00a0: {what}",
        "no_further_slot": "il n'y a plus de créneau",
        "would_have": "l'état du job est {state}\u00a0; voici les créneaux qu'il aurait",
    },
)
