"""`changes()` is the difference to what the caller got last, or an error; what a run cannot keep is in its report."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import threading
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import incoop
from incoop.engine.failures import ChangesLost
from incoop.engine.keeper import Keeper
from incoop.engine.running.runner import Runner
from incoop.memo.delivery_notes import DeliveryNotes, NoteNotWritten
from tests.end_to_end.places import CHUNKS, Place
from tests.memo.servers import RealServer

from .workshop import Workshop

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def words(_: object, line: str) -> Iterator[tuple[str, int]]:
    for word in line.split():
        yield word, 1


def total(word: str, counts: Iterable[int]) -> Iterator[tuple[str, int]]:
    yield word, sum(counts)


COUNT = incoop.Job("count", words, total, total)
MAP_ONLY = incoop.Job("map only", words)


def version(number: int) -> list[str]:
    """The input of a run: each differs in a line from the one before."""
    lines = [f"w{at % 40} w{at % 7} w{at}" for at in range(200)]
    for at in range(number):
        lines[20 * at + 3] = f"edited{at} w1"
    return lines


def counted(lines: list[str]) -> dict[Any, Any]:
    return dict(Counter(word for line in lines for word in line.split()))


class Caller:
    """Keeps what it was given up to date by changes alone; where they are lost, it takes the whole result."""

    def __init__(self, place: Place, session: Callable[[], incoop.Session], job: incoop.Job = COUNT) -> None:
        self.place, self.session, self.job = place, session, job
        self.has: dict[Any, Any] = {}
        self.lost = False

    def take(self, number: int) -> incoop.Result:
        """Run on a version of the input, and check what the result and its changes say."""
        self.place.write(version(number))
        result = self.session().run(self.job, str(self.place.input))
        self.check(result, number)
        return result

    def check(self, result: incoop.Result, number: int) -> None:
        after = counted(version(number))
        assert result.as_dict() == after
        expected = {
            key: (self.has.get(key), after.get(key))
            for key in self.has.keys() | after.keys()
            if self.has.get(key) != after.get(key)
        }
        self.lost = False
        try:
            found = list(result.changes())
        except ChangesLost as lost:
            assert "cannot be told" in str(lost) and "take all of it as changed" in str(lost)
            self.lost = True
        else:
            assert len(found) == len(expected)
            assert {each.key: (each.old, each.new) for each in found} == expected
        self.has = after


class OtherServer:
    """A store whose entries are in a server that can be killed for good, and whose data can be lost."""

    def __init__(self, place: Place, spark: SparkSession) -> None:
        self.place, self.spark = place, spark
        self.server = RealServer(place.folder / "server", "unix")
        self._session: incoop.Session | None = None

    def session(self) -> incoop.Session:
        if self._session is None:
            self._session = incoop.connect(
                self.place.store, spark=self.spark, memo=self.server.url, chunks=CHUNKS, reply_seconds=2.0
            )
        return self._session

    def kill(self) -> None:
        self.server.kill()

    def lose_all(self) -> None:
        """Kill it, and remove what it kept."""
        self.server.kill()
        shutil.rmtree(self.server.folder)
        self.server.folder.mkdir()

    def forget(self) -> None:
        with contextlib.closing(self.server.client()) as client:
            client.flushall()

    def mend(self) -> None:
        """Start the server again, on what is left."""
        if self.server._process is None:
            self.server.start()

    def close(self) -> None:
        if self._session is not None:
            self._session.close()
        self.server.close()


@pytest.fixture
def other(place: Place, spark: SparkSession) -> Iterator[OtherServer]:
    with contextlib.closing(OtherServer(place, spark)) as other:
        yield other


@contextlib.contextmanager
def at(moment: str, act: Callable[[], None]) -> Iterator[None]:
    """Do something once at a moment of the next run."""
    if moment == "before the run":
        act()
        yield
        return
    owner, name, step = {
        "during the map stage": (Runner, "run", "map"),
        "before the contraction": (Runner, "run", "contract"),
        "before the commit": (Keeper, "commit", ""),
    }[moment]
    real, done = getattr(owner, name), threading.Event()

    def first_act(*arguments: Any, **named: Any) -> Any:
        if not done.is_set() and (not step or arguments[1].step == step):
            done.set()
            act()
        return real(*arguments, **named)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(owner, name, first_act)
        yield
    assert done.is_set()


MOMENTS = ["before the run", "during the map stage", "before the contraction", "before the commit"]


@pytest.mark.parametrize("moment", MOMENTS)
@pytest.mark.parametrize("way", ["kill", "lose_all", "forget"])
def test_after_redis_was_lost_changes_are_exact_or_refused(moment: str, way: str, other: OtherServer) -> None:
    caller = Caller(other.place, other.session)
    caller.take(0)
    caller.take(1)
    assert not caller.lost
    with at(moment, getattr(other, way)):
        result = caller.take(2)
    if way != "forget":
        assert any("is not recorded" in warning for warning in result.report.warnings)
        assert any("lost Redis" in warning for warning in result.report.warnings)
        assert caller.lost == (moment == "before the run")  # else what the run before gave was read in time
    other.mend()
    again = caller.take(3)
    assert caller.lost == (way != "forget" or (moment == "before the run" and caller.lost))
    assert not any("is not recorded" in warning for warning in again.report.warnings)
    caller.take(4)
    assert not caller.lost
    assert caller.take(4).report.warnings == []
    assert not caller.lost


def test_while_redis_stays_lost_every_run_says_so(other: OtherServer) -> None:
    caller = Caller(other.place, other.session)
    caller.take(0)
    other.kill()
    for number in (1, 2, 3):
        result = caller.take(number)
        assert caller.lost
        assert any("is not recorded" in warning for warning in result.report.warnings)
    other.mend()
    caller.take(4)
    assert caller.lost
    caller.take(5)
    assert not caller.lost


def test_a_first_run_without_redis_has_every_key_for_a_change_and_the_second_does_not_repeat_them(
    other: OtherServer,
) -> None:
    caller = Caller(other.place, other.session)
    other.session()
    other.kill()
    caller.take(0)
    assert not caller.lost
    other.mend()
    caller.take(1)
    assert caller.lost
    caller.take(2)
    assert not caller.lost


@pytest.mark.parametrize("moment", MOMENTS)
@pytest.mark.parametrize("data", ["stays", "goes"])
def test_a_private_server_that_is_killed_comes_back(moment: str, data: str, place: Place) -> None:
    caller = Caller(place, lambda: place.session)
    caller.take(0)

    def act() -> None:
        pid = place.session._memo.session._server.pid()
        assert pid is not None
        os.kill(pid, signal.SIGKILL)
        if data == "goes":
            server = place.store / "memo" / "server"
            gone = [path for path in server.iterdir() if path.suffix == ".aof" or path.name == "appendonlydir"]
            assert gone  # which of the two it is depends on the server's version
            for path in gone:
                shutil.rmtree(path) if path.is_dir() else path.unlink()

    with at(moment, act):
        caller.take(1)
    for number in (2, 3, 4):
        caller.take(number)
    assert not caller.lost


@pytest.mark.parametrize("job", [COUNT, MAP_ONLY], ids=["reduced", "map only"])
@pytest.mark.parametrize("what", ["entries", "generations", "all"])
def test_what_redis_forgot_between_two_runs_is_not_taken_for_a_first_run(
    what: str, job: incoop.Job, place: Place
) -> None:
    place.write(version(0))
    before = Counter(place.run(job).collect())
    memo = place.session._memo
    if what == "all":
        memo.session.link.strict(lambda link: link.client.flushall())
    else:
        memo.session.link.strict(lambda link: link.client.delete(getattr(memo.keys, what)))
    place.write(version(1))
    result = place.run(job)
    after = Counter(result.collect())
    if what == "entries":
        changes = list(result.changes())
        assert {each.key for each in changes} == {key for key, _ in (before - after) + (after - before)}
    else:
        with pytest.raises(ChangesLost):
            result.changes()
    place.write(version(2))
    assert len(list(place.run(job).changes())) < 10


def test_an_old_state_of_redis_is_not_taken_for_the_last(place: Place) -> None:
    caller = Caller(place, lambda: place.session)
    caller.take(0)
    place.close_session()
    server, kept = place.store / "memo" / "server", place.folder / "kept"
    shutil.copytree(server, kept, ignore=shutil.ignore_patterns("*.sock"))
    for number in (1, 2):
        caller.take(number)
        assert not caller.lost
    place.close_session()
    shutil.rmtree(server)
    shutil.copytree(kept, server)
    caller.take(3)
    assert caller.lost
    caller.take(4)
    assert not caller.lost


def test_an_old_state_that_gave_the_same_is_as_good_as_the_last(place: Place) -> None:
    caller = Caller(place, lambda: place.session)
    caller.take(0)
    place.close_session()
    server, kept = place.store / "memo" / "server", place.folder / "kept"
    shutil.copytree(server, kept, ignore=shutil.ignore_patterns("*.sock"))
    caller.take(1)
    caller.take(0)
    place.close_session()
    shutil.rmtree(server)
    shutil.copytree(kept, server)
    caller.take(2)
    assert not caller.lost


def test_a_lost_old_output_is_an_error_not_a_first_run(place: Place) -> None:
    caller = Caller(place, lambda: place.session)
    caller.take(0)
    for pack in place.packs:
        pack.unlink()
    caller.take(1)
    assert caller.lost
    caller.take(2)
    assert not caller.lost


@pytest.mark.parametrize("each", range(3))
def test_any_one_pack_of_an_old_output_may_be_lost(each: int, place: Place) -> None:
    caller = Caller(place, lambda: place.session)
    for number in (0, 1, 2):
        caller.take(number)
    packs = place.packs
    packs[each * len(packs) // 3].unlink()
    for number in (3, 4, 5):
        caller.take(number)
    assert not caller.lost


def test_two_sessions_that_take_turns_tell_the_changes_since_either(place: Place, spark: SparkSession) -> None:
    with incoop.connect(place.store, spark=spark, chunks=CHUNKS) as second:
        sessions = [place.session, second]
        caller = Caller(place, lambda: sessions[0])
        for number in (0, 1, 2, 2, 1, 3):
            caller.take(number)
            assert not caller.lost
            sessions.reverse()


def test_a_run_that_another_overtook_cannot_tell_its_changes(place: Place, spark: SparkSession) -> None:
    caller = Caller(place, lambda: place.session)
    caller.take(0)
    with incoop.connect(place.store, spark=spark, chunks=CHUNKS) as second:
        place.write(version(1))

        def overtake() -> None:
            place.write(version(2))
            caller.check(second.run(COUNT, str(place.input)), 2)

        with at("before the commit", overtake):
            slow = place.run(COUNT)
    caller.check(slow, 1)
    assert caller.lost
    caller.take(3)  # which generation is the newest is a matter of which began last: right, or refused
    caller.take(4)
    assert not caller.lost


@pytest.mark.parametrize("how", ["emptied", "removed", "of another job"])
def test_a_damaged_note_is_an_error(how: str, place: Place) -> None:
    caller = Caller(place, lambda: place.session)
    caller.take(0)
    (note,) = (place.store / "memo" / "delivered").iterdir()
    if how == "removed":
        note.unlink()
    elif how == "emptied":
        note.write_bytes(b"")
    else:
        place.run(incoop.Job("another", words, total, total))
        (strange,) = (each for each in note.parent.iterdir() if each != note)
        note.write_bytes(strange.read_bytes())
    caller.take(1)
    assert caller.lost
    caller.take(2)
    assert not caller.lost


def test_a_run_that_dies_before_it_gives_its_result_was_none(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    caller = Caller(place, lambda: place.session)
    caller.take(0)

    def dies(*_: object) -> None:
        raise KeyboardInterrupt

    place.write(version(1))
    with monkeypatch.context() as patch:
        patch.setattr(DeliveryNotes, "note", dies)
        with pytest.raises(KeyboardInterrupt):
            place.run(COUNT)
    caller.take(2)  # since the first, or refused
    caller.take(3)
    assert not caller.lost


def test_a_store_that_takes_no_note_fails_the_run(place: Place) -> None:
    caller = Caller(place, lambda: place.session)
    caller.take(0)
    notes = place.store / "memo" / "delivered"
    shutil.rmtree(notes)
    notes.write_text("in the way")
    place.write(version(1))
    with pytest.raises(NoteNotWritten, match="run the job again"):
        place.run(COUNT)
    notes.unlink()
    caller.take(1)
    assert caller.lost
    caller.take(2)
    assert not caller.lost


def test_a_job_that_keeps_nothing_cannot_tell_changes(place: Place) -> None:
    place.write(version(0))
    result = place.run(incoop.Job("plain", words, total, total, memoize=False))
    assert result.as_dict() == counted(version(0)) and result.report.warnings == []
    with pytest.raises(ChangesLost, match="memoize is False"):
        result.changes()


def test_a_result_that_was_recovered_tells_the_changes_that_it_told(place: Place) -> None:
    caller = Caller(place, lambda: place.session)
    caller.take(0)
    old = set(place.packs)
    place.write(version(1))
    result = place.run(COUNT)
    for pack in set(place.packs) - old:
        pack.unlink()
    caller.check(result, 1)
    assert not caller.lost
    caller.take(2)
    assert not caller.lost


def test_a_lost_line_to_redis_is_in_the_report_of_its_run_alone(other: OtherServer) -> None:
    caller = Caller(other.place, other.session)
    assert caller.take(0).report.warnings == []
    with at("before the contraction", other.kill):
        assert len(caller.take(1).report.warnings) == 2
    other.mend()
    assert caller.take(2).report.warnings == []


def test_a_full_redis_says_what_it_did_not_keep(other: OtherServer) -> None:
    caller = Caller(other.place, other.session)
    caller.take(0)

    def fill() -> None:
        with contextlib.closing(other.server.client()) as client:
            client.config_set("maxmemory", "1")
            client.config_set("maxmemory-policy", "noeviction")

    with at("before the contraction", fill):
        result = caller.take(1)
    assert any("refused" in warning for warning in result.report.warnings)
    with contextlib.closing(other.server.client()) as client:
        client.config_set("maxmemory", "0")
    caller.take(2)
    assert caller.lost
    caller.take(3)
    assert not caller.lost


def test_the_folder_of_the_memo_removed_is_a_new_beginning(place: Place) -> None:
    caller = Caller(place, lambda: place.session)
    caller.take(1)
    place.close_session()
    shutil.rmtree(place.store / "memo")
    caller.has = {}
    caller.take(2)
    assert not caller.lost


def test_notes_of_a_store_are_small_files_of_their_own(tmp_path: Path) -> None:
    from incoop.base.checksums import Signer

    notes = DeliveryNotes(tmp_path, Signer(b"secret"))
    assert notes.noted("a") is None
    notes.note("a", b"x" * 16)
    notes.note("b\ud800", b"y" * 16)
    assert (notes.noted("a"), notes.noted("b\ud800"), notes.noted("c")) == (b"x" * 16, b"y" * 16, None)
    assert DeliveryNotes(tmp_path, Signer(b"another")).noted("a") == b""


OLD_CLASSES = """
import enum, incoop
from dataclasses import dataclass

@dataclass(frozen=True)
class Word:
    text: str

class Kind(enum.Enum):
    WORD = 1

def mapper(_, line):
    for word in line.split():
        yield Word(word), Kind.WORD

def kinds(key, values):
    yield key, values[0]

job = incoop.Job("classes", mapper, kinds)
"""


@pytest.mark.parametrize(
    "edit",
    [
        pytest.param(("Word(", "Token("), id="a class that was renamed"),
        pytest.param(("WORD = 1", "WORD = 2"), id="a member of an enum with another value"),
        pytest.param(("text: str", "text: str\n    kind: object"), id="a new field"),
    ],
)
def test_keys_and_values_of_classes_that_changed_are_an_error_not_a_crash(
    edit: tuple[str, str], workshop: Workshop
) -> None:
    workshop.write(job=OLD_CLASSES)
    first = workshop.place.run(workshop.load())
    count = len(first.collect())
    assert len(list(first.changes())) == count
    edited = OLD_CLASSES.replace("class Word:", "class Word():").replace(*edit)
    workshop.write(job=edited.replace("Word(word)", "Word(word, 1)") if "kind" in edit[1] else edited)
    second = workshop.place.run(workshop.load())
    assert len(second.collect()) == count
    with pytest.raises(ChangesLost, match="classes any more"):
        list(second.changes())
    workshop.place.write([f"other {number}" for number in range(40)])
    assert list(workshop.place.run(workshop.load()).changes()), "the next run tells its changes again"
