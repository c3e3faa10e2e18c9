"""What is kept can be computed again from scratch, in a process of its own, and compared."""

from __future__ import annotations

import pytest

import incoop
from incoop.engine.failures import NotDeterministic
from incoop.engine.record import Origin
from incoop.engine.stages.map_contract.verify import NotAsBefore
from tests.cli.command import incoop as command

from .workshop import SUM, Workshop

JOB = (
    """
import incoop
import words

def mapper(_, line):
    for word in line.split():
        yield words.clean(word), 1
"""
    + SUM
    + """
job = incoop.Job("counted", mapper, total, total{options})
"""
)

WORDS = "def clean(word):\n    return word.upper()\n"


@pytest.mark.parametrize(
    "options",
    [pytest.param("", id="fingerprints"), pytest.param(", version='1'", id="a version of the user's")],
)
def test_a_sample_comes_out_as_it_is_kept(options: str, workshop: Workshop) -> None:
    workshop.write(job=JOB.format(options=options), words=WORDS)
    expected = workshop.run()
    assert workshop.run(verify=1.0) == expected
    chunks, shards = workshop.place.session.verify(workshop.load(), str(workshop.place.input), 0.5)
    assert chunks >= 1 and shards >= 1


@pytest.mark.parametrize(
    "tail",
    [
        pytest.param("", id="with a combiner"),
        pytest.param("\njob = incoop.Job('flat', mapper, total)\n", id="without a combiner"),
        pytest.param("\njob = incoop.Job('mapped', mapper)\n", id="map only"),
        pytest.param(
            "\ndef top(key, values):\n    yield key, max(values) + 1\njob = incoop.Job('other', mapper, top)\n",
            id="a reducer that is no sum",
        ),
    ],
)
def test_every_shape_of_job_can_be_verified_also_after_an_edit(tail: str, workshop: Workshop) -> None:
    workshop.write(job=JOB.format(options="") + tail, words=WORDS)
    lines = [f"line {number} of the input" for number in range(40)]
    workshop.run(verify=1.0)
    lines[20] = "another line altogether"
    workshop.place.write(lines)
    workshop.run(verify=1.0)


def test_code_that_changed_behind_a_version_is_found(workshop: Workshop) -> None:
    workshop.write(job=JOB.format(options=", version='1'"), words=WORDS)
    workshop.run()
    workshop.write(words=WORDS.replace("upper", "lower"))
    with pytest.raises(NotDeterministic, match="two results"):
        workshop.run(verify=1.0)
    flat = JOB.format(options="") + "\njob = incoop.Job('flat', mapper, total, version='1')\n"
    workshop.write(words=WORDS, job=flat)
    workshop.run()
    workshop.write(job=flat.replace("sum(values)", "sum(values) + 1"))
    with pytest.raises(NotDeterministic, match="the keys of shard"):
        workshop.run(verify=1.0)


def test_nothing_is_run_only_to_be_verified(workshop: Workshop) -> None:
    workshop.write(job=JOB.format(options=""), words=WORDS)
    session = workshop.place.session
    with pytest.raises(NotAsBefore, match="has not run in this store"):
        session.verify(workshop.load(), str(workshop.place.input), 1.0)
    before = dict(workshop.place.run(workshop.load()).collect())
    workshop.place.write(["one line"])
    with pytest.raises(NotAsBefore, match="1 chunk is new"):
        session.verify(workshop.load(), str(workshop.place.input), 1.0)
    result = workshop.place.run(workshop.load())
    assert {change.key for change in result.changes()} == before.keys() | {"ONE"}, "verifying delivered nothing"


def test_the_command_verifies_each_job_in_a_process_of_its_own(workshop: Workshop) -> None:
    place, folder = workshop.place, workshop.folder
    workshop.write(job=JOB.format(options=", version='1'"), words=WORDS)
    origin = Origin("job.py", (str(place.input),), str(folder))
    workshop.run(origin=origin)
    place.run(incoop.Job("elsewhere", lambda _, line: [(line, 1)]))
    place.close_session()
    good = command("verify", "--rerun", "100%", "--store", place.store)
    assert good.returncode == 0, good.stderr
    assert "came out as they are kept" in good.stdout, good.stdout
    assert "elsewhere: was not run by `incoop run`" in good.stdout
    workshop.write(words=WORDS.replace("upper", "lower"))
    bad = command("verify", "--rerun", "100%", "--store", place.store)
    assert bad.returncode == 1
    assert "gave two results" in bad.stdout
    (folder / "job.py").unlink()
    gone = command("verify", "--rerun", "1.0", "--store", place.store)
    assert gone.returncode == 0 and "is not a file" in gone.stdout
    assert command("verify", "--rerun", "lots", "--store", place.store).returncode == 2
