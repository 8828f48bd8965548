"""Days as rows write them, and days before and after: rows may hold the calendar's last day, or what is none."""

from datetime import date, timedelta


def day_in(text: str) -> date | None:
    """The day that a date, or a date and time, begins with."""
    try:
        return date.fromisoformat(text[:10])
    except ValueError:
        return None


def later(day: date, days: int) -> date:
    """So many days later, or earlier; no further than the calendar goes."""
    try:
        return day + timedelta(days=days)
    except OverflowError:
        return date.max if days > 0 else date.min
