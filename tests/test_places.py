"""Where downloads are kept."""

from pathlib import Path

import pytest

from memgauge import places


@pytest.fixture
def bare(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    monkeypatch.delenv("MEMGAUGE_CACHE", raising=False)
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.setenv("HOME", "/home/ann")
    return monkeypatch


def test_the_cache_lies_in_the_home_directory_by_default(bare: pytest.MonkeyPatch) -> None:
    assert places.cache_dir() == Path("/home/ann/.cache/memgauge")


def test_the_cache_follows_the_desktop_standard(bare: pytest.MonkeyPatch) -> None:
    bare.setenv("XDG_CACHE_HOME", "/scratch")
    assert places.cache_dir() == Path("/scratch/memgauge")


def test_a_relative_desktop_setting_is_ignored_as_the_standard_asks(bare: pytest.MonkeyPatch) -> None:
    bare.setenv("XDG_CACHE_HOME", "scratch")
    assert places.cache_dir() == Path("/home/ann/.cache/memgauge")


def test_our_own_variable_comes_first(bare: pytest.MonkeyPatch) -> None:
    bare.setenv("XDG_CACHE_HOME", "/scratch")
    bare.setenv("MEMGAUGE_CACHE", "~/mine")
    assert places.cache_dir() == Path("/home/ann/mine")


def test_what_is_built_lies_with_the_users_data_not_in_a_cache(bare: pytest.MonkeyPatch) -> None:
    bare.delenv("MEMGAUGE_DATA", raising=False)
    bare.delenv("XDG_DATA_HOME", raising=False)
    assert places.environments_dir() == Path("/home/ann/.local/share/memgauge/environments")
    bare.setenv("XDG_DATA_HOME", "/big")
    assert places.environments_dir() == Path("/big/memgauge/environments")
    bare.setenv("MEMGAUGE_DATA", "~/mine")
    assert places.environments_dir() == Path("/home/ann/mine/environments")


def test_models_and_data_lie_apart(bare: pytest.MonkeyPatch) -> None:
    bare.setenv("MEMGAUGE_CACHE", "/c")
    assert (places.models_dir(), places.data_dir()) == (Path("/c/models"), Path("/c/data"))
