"""When something was said to happen: dates in a text, resolved against the day on which it was said."""

import re
from calendar import monthrange
from dataclasses import dataclass
from datetime import date, timedelta

from memgauge.backbones.rules.words import number

MONTHS = (
    "january", "february", "march", "april", "may", "june",
    "july", "august", "september", "october", "november", "december",
)  # fmt: skip
WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")

_MONTH = rf"(?P<month>{'|'.join(f'{m}|{m[:3]}' for m in MONTHS)}|sept)\b\.?"
_DAY = r"(?P<day>[0-3]?\d)(?:st|nd|rd|th)?\b"
_YEAR = r"(?P<year>(?:19|20)\d\d)\b"
_COUNT = (
    r"(?P<count>\d{1,3}|an?|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|twenty|a couple of"
    r"|a few|few|several)"
)
_PATTERNS = tuple(
    (kind, re.compile(pattern, re.IGNORECASE))
    for kind, pattern in (
        ("iso", r"\b(?P<year>(?:19|20)\d\d)[-/](?P<month>[01]?\d)[-/](?P<day>[0-3]?\d)(?!\d)"),
        ("day", rf"\b(?:the )?{_DAY} (?:of )?{_MONTH},?(?: (?:of )?{_YEAR})?"),
        ("day", rf"\b{_MONTH} (?:the )?{_DAY}(?:,? {_YEAR})?"),
        ("month", rf"\b{_MONTH},?(?: of)? {_YEAR}"),
        ("month", rf"\b{_MONTH} (?P<which>last|this|next) year\b"),
        ("month", rf"\b(?P<which>last|this|next) {_MONTH}"),
        ("other", r"\b(?P<count>the other) (?P<unit>day|week|month)\b"),
        ("near", r"\b(?P<near>the day before yesterday|the day after tomorrow|yesterday|last night|tomorrow"
                 r"|today|tonight|this (?:morning|afternoon|evening)|earlier today)\b"),
        ("weekday", rf"\b(?P<which>last|this|next|this past|this coming|on) (?P<weekday>{'|'.join(WEEKDAYS)}"
                    r"|mon|tues?|wed|thurs?|fri|sat|sun)\b"),
        ("span", r"\b(?P<which>the past|this past|last|past|this|next) "
                 r"(?P<unit>week(?:end)?|month|year|spring|summer|autumn|fall|winter)\b"),
        ("ago", rf"\b(?:about |around |over )?{_COUNT} (?P<unit>day|week|weekend|month|year)s? "
                r"(?P<way>ago|back|earlier|before)\b"),
        ("ahead", rf"\bin (?:about |around )?{_COUNT} (?P<unit>day|week|month|year)s?\b"),
        ("nth", r"\bon the (?P<day>[0-3]?\d)(?:st|nd|rd|th)\b"),
        ("month", rf"\b(?:in|since|during|until|by|early|late|mid) {_MONTH}(?! \d)"),
        ("year", rf"\b(?:in|since|during|until|by|of|from|back in) {_YEAR}"),
    )
)  # fmt: skip
_LASTING = re.compile(
    r"\b(?:for|after|over|under|been|already|past|last)"
    r" (?:about |around |almost |nearly |just |over |under |the past )*"
    rf"{_COUNT} (?P<unit>week|month|year)s?\b",
    re.IGNORECASE,
)
_HINT = re.compile(
    r"\d|ago|back|day|tomorrow|night|morning|afternoon|evening|week|month|year|last|next|past|summer|winter|spring|fall"
    r"|autumn|january|february|march|april|may|june|july|august|september|october|november|december",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class When:
    """A time found in a text at ``start:end``, and how to write it once resolved.

    ``clause`` is the form that reads well inside a sentence (``on 7 May 2023``).
    """

    start: int
    end: int
    written: str
    clause: str


def written(day: date) -> str:
    """``7 May 2023``."""
    return f"{day.day} {MONTHS[day.month - 1].capitalize()} {day.year}"


def stamp(text: str) -> date | None:
    """The day named in a bracket at the start of a line, in any usual form."""
    for kind, pattern in _PATTERNS[:3]:
        found = pattern.search(text)
        if found and found["year"]:
            return _day(int(found["year"]), _month(found["month"]) if kind == "day" else int(found["month"]),
                        int(found["day"]))  # fmt: skip
    return None


def times(text: str, said: date | None) -> list[When]:
    """Every time named in ``text``, in order; those that need the day of saying are left as said without it."""
    if not _HINT.search(text):
        return []
    found: list[When] = []
    for kind, pattern in _PATTERNS:
        for match in pattern.finditer(text):
            if any(match.start() < other.end and other.start < match.end() for other in found):
                continue
            resolved = _RESOLVERS[kind](match, said)
            if resolved:
                found.append(When(match.start(), match.end(), *resolved))
    return sorted(found, key=lambda when: when.start)


def began(text: str, said: date | None) -> str | None:
    """When what has lasted ``for three years`` began: the year or the month."""
    lasting = _LASTING.search(text)
    resolved = _away(lasting, said, -1) if lasting and said else None
    return resolved[0] if resolved else None


def _month(name: str) -> int:
    return next(i for i, month in enumerate(MONTHS, 1) if month.startswith(name.lower().rstrip(".")[:3]))


def _day(year: int, month: int, day: int) -> date | None:
    try:
        return date(year, month, day)
    except ValueError:
        return None


def _on(day: date | None, prefix: str = "") -> tuple[str, str] | None:
    return (f"{prefix}{written(day)}", f"on {prefix}{written(day)}") if day else None


def _iso(match: re.Match[str], said: date | None) -> tuple[str, str] | None:
    return _on(_day(int(match["year"]), int(match["month"]), int(match["day"])))


def _calendar_day(match: re.Match[str], said: date | None) -> tuple[str, str] | None:
    month, day = _month(match["month"]), int(match["day"])
    if match["year"]:
        return _on(_day(int(match["year"]), month, day))
    if said is None:
        plain = f"{day} {MONTHS[month - 1].capitalize()}"
        return (plain, f"on {plain}") if 1 <= day <= 31 else None
    return _on(_closest(month, day, said))


def _closest(month: int, day: int, said: date) -> date | None:
    near = [found for year in (said.year - 1, said.year, said.year + 1) if (found := _year_day(year, month, day))]
    return min(near, key=lambda found: abs(found - said)) if near else None


def _year_day(year: int, month: int, day: int) -> date | None:
    return _day(year, month, day) if 1 <= year <= 9999 else None


def _calendar_month(match: re.Match[str], said: date | None) -> tuple[str, str] | None:
    groups = match.groupdict()
    month = _month(match["month"])
    name = MONTHS[month - 1].capitalize()
    if groups.get("year"):
        year = int(groups["year"])
    elif said is None:
        return name, f"in {name}"
    elif (which := (groups.get("which") or "").lower()) and "year" in match[0].lower():
        year = said.year + {"last": -1, "this": 0, "next": 1}[which]
    elif which == "next":
        year = said.year + (month <= said.month)
    else:
        year = said.year - (month > said.month + (0 if which == "last" else 3))
    lead = match[0].lower().split()[0]
    lead = lead if lead in ("since", "until", "by", "during") else "in"
    return f"{name} {year}", f"{lead} {name} {year}"


def _near(match: re.Match[str], said: date | None) -> tuple[str, str] | None:
    if said is None:
        return match[0], match[0]
    near = match["near"].lower()
    days = {"the day before yesterday": -2, "yesterday": -1, "last night": -1, "tomorrow": 1,
            "the day after tomorrow": 2}.get(near, 0)  # fmt: skip
    return _on(_shift(said, days))


def _shift(said: date, days: int) -> date | None:
    try:
        return said + timedelta(days=days)
    except OverflowError:
        return None


def _weekday(match: re.Match[str], said: date | None) -> tuple[str, str] | None:
    if said is None:
        return match[0], match[0]
    index = next(i for i, name in enumerate(WEEKDAYS) if name.startswith(match["weekday"].lower()[:3]))
    if match["which"].lower() in ("next", "this coming"):
        days = (index - said.weekday() - 1) % 7 + 1
    else:
        days = -((said.weekday() - index - 1) % 7 + 1)
    return _on(_shift(said, days), f"{WEEKDAYS[index].capitalize()}, ")


def _span(match: re.Match[str], said: date | None) -> tuple[str, str] | None:
    if said is None:
        return match[0], match[0]
    unit, which = match["unit"].lower(), match["which"].lower()
    step = {"this": 0, "next": 1}.get(which, -1)
    if unit == "year":
        year = str(said.year + step)
        return year, f"in {year}"
    if unit == "month":
        month = _months_on(said, step)
        return (month, f"in {month}") if month else None
    if unit in ("week", "weekend"):
        side = ("before", "of", "after")[step + 1]
        phrase = f"the {unit} {side} {written(said)}"
        return phrase, f"in {phrase}" if unit == "week" else f"on {phrase}"
    # A season still to come this year was last seen a year ago.
    begins = {"spring": 3, "summer": 6, "autumn": 9, "fall": 9, "winter": 12}[unit]
    year = str(said.year + (step if step > 0 or said.month <= begins + 2 else 0) * (which != "this"))
    return f"{unit} {year}", f"in {unit} {year}"


def _months_on(said: date, months: int) -> str | None:
    years, month = divmod(said.month - 1 + months, 12)
    year = said.year + years
    return f"{MONTHS[month].capitalize()} {year}" if 1 <= year <= 9999 else None


def _ago(match: re.Match[str], said: date | None) -> tuple[str, str] | None:
    return _away(match, said, -1)


def _ahead(match: re.Match[str], said: date | None) -> tuple[str, str] | None:
    return _away(match, said, 1)


def _away(match: re.Match[str], said: date | None, way: int) -> tuple[str, str] | None:
    if said is None:
        return match[0], match[0]
    count, unit = match["count"].lower(), match["unit"].lower()
    exact = 1 if count in ("a", "an") else number(count)
    if exact is None:
        side = "before" if way < 0 else "after"
        phrase = f"{count} {unit}s {side} {written(said)}"
        return phrase, phrase
    if unit == "day":
        return _on(_shift(said, way * exact))
    if unit == "month":
        month = _months_on(said, way * exact)
        return (month, f"in {month}") if month else None
    if unit == "year":
        year = said.year + way * exact
        return (str(year), f"in {year}") if year > 0 else None
    noun = unit if exact == 1 else f"{unit}s"
    spelled = "the" if exact == 1 else match["count"].lower()
    phrase = f"{spelled} {noun} {'before' if way < 0 else 'after'} {written(said)}"
    return phrase, phrase


def _other(match: re.Match[str], said: date | None) -> tuple[str, str] | None:
    phrase = f"a few {match['unit'].lower()}s before {written(said)}" if said else match[0]
    return phrase, phrase


def _nth(match: re.Match[str], said: date | None) -> tuple[str, str] | None:
    if said is None:
        return match[0], match[0]
    day = int(match["day"])
    if not 1 <= day <= monthrange(said.year, said.month)[1]:
        return None
    month, year = (said.month, said.year) if day <= said.day else _previous_month(said)
    return _on(_year_day(year, month, day))


def _previous_month(said: date) -> tuple[int, int]:
    return (said.month - 1, said.year) if said.month > 1 else (12, said.year - 1)


def _year(match: re.Match[str], said: date | None) -> tuple[str, str] | None:
    return match["year"], match[0]


_RESOLVERS = {
    "iso": _iso, "day": _calendar_day, "month": _calendar_month, "near": _near, "other": _other, "weekday": _weekday,
    "span": _span, "ago": _ago, "ahead": _ahead, "nth": _nth, "year": _year,
}  # fmt: skip
