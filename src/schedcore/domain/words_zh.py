"""Triggers and slots in Chinese (simplified characters): from the largest unit to the smallest."""

from __future__ import annotations

from schedcore.domain.words import Words

__all__ = ["CHINESE"]

_DAY = 86_400
_UNITS = ((3_600, "小时"), (60, "分钟"), (1, "秒"))


def _listed(items: list[str]) -> str:
    return "和".join(["、".join(items[:-1]), items[-1]] if len(items) > 1 else items)


def _length(seconds: int) -> str:
    if seconds > _DAY and seconds % _DAY == 0:
        return f"{seconds // _DAY}天（每天24小时）"
    parts = []
    for size, unit in _UNITS:
        count, seconds = divmod(seconds, size)
        if count:
            parts.append(f"{count}{unit}")
    return "".join(parts) or "0秒"


def _each(seconds: int) -> str:
    return next((unit for size, unit in _UNITS if size == seconds), _length(seconds))


def _named(first: str, last: str | None) -> str:
    return first if last is None else f"{first}至{last}"


def _monthday(first: str, last: str | None) -> str:
    return f"{first}日" if last is None else f"{first}日至{last}日"


def _hour(first: str, last: str | None) -> str:
    return f"{first}时" if last is None else f"{first}时至{last}时"


CHINESE = Words(
    code="zh",
    weekdays=("周日", "周一", "周二", "周三", "周四", "周五", "周六"),
    months=("1月", "2月", "3月", "4月", "5月", "6月", "7月", "8月", "9月", "10月", "11月", "12月"),
    ordinals=("第一", "第二", "第三", "第四", "第五"),
    listed=_listed,
    weekday=_named,
    month=_named,
    monthday=_monthday,
    hour=_hour,
    minute=_named,
    each=_each,
    length=_length,
    patterns={
        "minutely": "每分钟",
        "minutes": "每{n}分钟",
        "hourly": "每小时整点",
        "hourly_at": "每小时的第{minutes}分",
        "hourly_at_many": "每小时的第{minutes}分",
        "hours": "每{n}小时的第{minutes}分",
        "hours_many": "每{n}小时的第{minutes}分",
        "times": "{times}",
        "minutely_from": "{first}至{last}每分钟",
        "minutes_from": "{first}至{last}每{n}分钟",
        "minutes_of_hours": "{hours}的第{minutes}分",
        "minutes_of_hours_many": "{hours}的第{minutes}分",
        "daily": "每天",
        "workdays": "每周一至周五",
        "weekend": "每周末",
        "weekdays": "每{weekdays}",
        "day": "每月{days}",
        "days": "每月{days}",
        "last_day": "每月最后一天",
        "nth": "每月{nths}",
        "nth_item": "{which}个{weekday}",
        "day_or_weekday": "{day}或{weekday}",
        "day_and_weekday": "每{weekdays}（仅限每月{days}）",
        "months": "每年{months}",
        "time": "{time}",
        "time_day": "{day}{time}",
        "time_month": "{month}，每天{time}",
        "time_day_month": "{month}，{day}{time}",
        "in_zone": "{what}（{zone}）",
        "every": "每{length}",
        "every_from": "每{length}，从{anchor}算起",
        "at": "仅一次，{local}",
        "plugin": "{kind} {text}",
        "no_trigger": "无触发规则",
        "with": "{what}；{more}",
        "from": "自{instant}起",
        "until": "至{instant}止",
        "count": "最多{n}次",
        "jitter": "推迟少于{length}",
        "gap_shift": "被时钟跳过的时刻，按跳过的时长顺延",
        "gap_skip": "被时钟跳过的时刻不执行",
        "fold_second": "出现两次的时刻只算第二次",
        "fold_both": "出现两次的时刻两次都算",
        "note_gap_at_once": "{day}没有{wall}；时钟跳过后立即执行",
        "note_gap_at_once_many": "{day}没有{wall}至{until}；时钟跳过后立即执行一次",
        "note_gap_shift": "{day}没有{wall}；改为{fires}",
        "note_gap_skipped": "{day}没有{wall}，该时刻不执行",
        "note_gap_skipped_many": "{day}没有{wall}至{until}，这些时刻不执行",
        "note_fold_first": "{day}有两次{wall}；这是第一次",
        "note_fold_second": "{day}有两次{wall}；这是第二次",
        "calendar_drop": "避开日历{name}的休息时间",
        "calendar_move": "顺延出日历{name}的休息时间",
        "calendar_keep": "日历{name}的休息时间也照常执行",
        "closing_dropped": "已取消，因为日历{calendar}中{entry}休息",
        "closing_dropped_many": "已取消{n}个时刻，其中第一个是因为日历{calendar}中{entry}休息",
        "closing_kept": "照常执行，尽管日历{calendar}中{entry}休息",
        "closing_moved_here": "从{other}移来，因为日历{calendar}中{entry}休息",
        "closing_moved_away": "移至{other}，因为日历{calendar}中{entry}休息",
        "closing_before": "在此之前：{what}",
        "no_further_slot": "没有后续的执行时刻",
        "would_have": "任务状态为{state}；以下是它本来的执行时刻",
    },
)
