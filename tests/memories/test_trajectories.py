"""A dialogue as trajectories: one per session."""

from memgauge import tokens
from memgauge.conversation import Turn
from memgauge.memories.trajectories import Sessions


def turn(number: int, session: str | None) -> Turn:
    return Turn(f"t{number}", "Ann", "one two three four", session=session)


def test_a_session_is_over_when_a_turn_of_another_comes() -> None:
    sessions = Sessions(most_tokens=1)  # which holds for turns without a session only
    ended = list(sessions.add([turn(1, "a"), turn(2, "a"), turn(3, "b"), turn(4, "b"), turn(5, "a")]))
    assert [one.turn_ids for one in ended] == [("t1", "t2"), ("t3", "t4")]
    assert [item.turn_ids for item in sessions.pending] == [("t5",)]
    assert (ended[0].task, ended[0].succeeded) == (None, None)


def test_batches_do_not_matter() -> None:
    turns = [turn(number, "a" if number < 3 else "b") for number in range(1, 6)]
    one_by_one = Sessions(most_tokens=100)
    ended = [session for each in turns for session in one_by_one.add([each])]
    assert ended == list(Sessions(most_tokens=100).add(turns))


def test_without_sessions_one_is_over_when_it_is_long_enough() -> None:
    size = tokens.count("Ann: one two three four\n")
    sessions = Sessions(most_tokens=2 * size)
    ended = list(sessions.add([turn(number, None) for number in range(1, 6)]))
    assert [one.turn_ids for one in ended] == [("t1", "t2"), ("t3", "t4")]
    assert [item.turn_ids for item in sessions.pending] == [("t5",)]


def test_turns_with_and_without_a_session_are_kept_apart() -> None:
    sessions = Sessions(most_tokens=1000)
    ended = list(sessions.add([turn(1, None), turn(2, "a"), turn(3, None)]))
    assert [one.turn_ids for one in ended] == [("t1",), ("t2",)]
