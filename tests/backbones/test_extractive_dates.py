"""Times that are said relative to the day of saying are written out."""

from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memgauge.backbones.rules.dates import began, stamp, times

SAID = date(2023, 5, 25)  # a Thursday


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("I went yesterday.", "24 May 2023"),
        ("It was last night!", "24 May 2023"),
        ("We leave tomorrow.", "26 May 2023"),
        ("I ran last Saturday.", "Saturday, 20 May 2023"),  # five days before the Thursday
        ("See you next Monday.", "Monday, 29 May 2023"),
        ("On Friday I got news.", "Friday, 19 May 2023"),
        ("It happened last week.", "the week before 25 May 2023"),
        ("We camped last weekend.", "the weekend before 25 May 2023"),
        ("This week I applied.", "the week of 25 May 2023"),
        ("I moved last month.", "April 2023"),
        ("I move next month.", "June 2023"),
        ("We met last year.", "2022"),
        ("I painted it two years ago.", "2021"),
        ("I came three days ago.", "22 May 2023"),
        ("He left two weeks ago.", "two weeks before 25 May 2023"),
        ("She died a few years ago.", "a few years before 25 May 2023"),
        ("In two months I retire.", "July 2023"),
        ("We swam last summer.", "summer 2022"),  # the summer of 2023 is still to come
        ("It dropped on the 11th.", "11 May 2023"),
        ("It was on the 30th.", "30 April 2023"),  # 30 May is still to come
        ("My birthday is on 3 June.", "3 June 2023"),
        ("Since January 2, 2020 I run.", "2 January 2020"),
        ("It began in August last year.", "August 2022"),
        ("I adopted her in 2013.", "2013"),
        ("On 2023-05-08 we met.", "8 May 2023"),
        ("The other day I saw it.", "a few days before 25 May 2023"),
    ],
)
def test_a_time_is_resolved(text: str, written: str) -> None:
    assert [when.written for when in times(text, SAID)] == [written]


@pytest.mark.parametrize("text", ["I may go.", "We march on.", "Nothing here.", "It is 5 apples."])
def test_what_is_no_time_is_left_alone(text: str) -> None:
    assert times(text, SAID) == []


def test_without_a_day_of_saying_a_time_stays_as_said() -> None:
    assert [when.written for when in times("I went last week.", None)] == ["last week"]


def test_what_has_lasted_tells_when_it_began() -> None:
    assert began("I've had them for 3 years now.", SAID) == "2020"
    assert began("I've been playing for a month.", SAID) == "April 2023"
    assert began("I like it.", SAID) is None


@pytest.mark.parametrize("text", ["8 May 2023, 13:56", "2023-05-08T13:56", "May 8, 2023", "1:56 pm on 8 May, 2023"])
def test_a_stamp_is_read_in_any_usual_form(text: str) -> None:
    assert stamp(text) == date(2023, 5, 8)


@given(st.text(), st.none() | st.dates())
def test_no_text_and_no_day_is_too_odd(text: str, said: date | None) -> None:
    times(text, said)


@given(st.dates(), st.sampled_from(["in 999 years", "900 months ago", "99 days ago", "31 February", "last winter"]))
def test_the_ends_of_the_calendar_are_survived(said: date, text: str) -> None:
    times(text, said)
