"""Commands of a job as programs: found, fingerprinted, and run on some worker.

Contract: two programs with equal text, equal content of what they were given and equal environment are the same, on
any machine and at any path; what differs from run to run is offered to them and is no part of that.
"""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from uuid import uuid4

import xxhash

from incoop.base.errors import IncoopError
from incoop.engine.running.counters import counter
from incoop.fingerprint.files import folder_digest
from incoop.fronts.common.command_files import CommandFiles
from incoop.fronts.common.commands import CommandFailed
from incoop.fronts.streaming.process import Finished, run_command
from incoop.fronts.streaming.seen_reads import WATCHING, state_for
from incoop.fronts.streaming.shipped_files import ShippedFile

#: Variables of the caller that programs get too; they say where things are.
_PLACES = ("PATH", "HOME", "USER", "LOGNAME", "SHELL", "TMPDIR", "LD_LIBRARY_PATH", "JAVA_HOME", "VIRTUAL_ENV")

#: Variables of the caller that can change what a program computes.
_MEANINGFUL = ("LANG", "LANGUAGE", "TZ", "PERL5LIB", "RUBYLIB", "R_LIBS", "GAWKLIBPATH", "AWKPATH", "POSIXLY_CORRECT")
_MEANINGFUL_PREFIXES = ("LC_", "PYTHON")

#: Changes nothing but the number of writes: a program that prints words would be waited for at every one of them.
_NOT_PASSED_ON = "PYTHONUNBUFFERED"

#: Larger files are data or binaries, not scripts that name others.
_SEARCHED = 1 << 20


class CommandNotFound(IncoopError):
    """A command names a program that is not there."""

    def __init__(self, role: str, command: str, why: str) -> None:
        super().__init__(role, command, why)
        self.role, self.command, self.why = role, command, why

    def __str__(self) -> str:
        return (
            f"the {self.role} {self.command!r} cannot run: {self.why}. Nothing was run. Name a program that is on "
            "PATH, or ship it with -files."
        )


def split_command(text: str) -> list[str]:
    """The words of a command, as Hadoop reads it: no shell, both kinds of quotes, no escapes.

    Example:
        >>> split_command("awk -F, '{ print $1 }'")
        ['awk', '-F,', '{ print $1 }']
    """
    words: list[str] = []
    quote, word = "", ""
    for character in [*text, " "]:
        if (quote and character == quote) or (not quote and character in " '\"\t\n"):
            # An end, also in the middle of a word: a quote begins a new one.
            if word:
                words.append(word)
            word = ""
            quote = character if not quote and character in "'\"" else ""
        else:
            word += character
    if quote and word.removesuffix(" "):
        words.append(word.removesuffix(" "))
    return words


def caller_environment() -> tuple[dict[str, str], dict[str, str]]:
    """Variables of this process that a program gets: those that are offered, and those that count."""
    places = {name: os.environ[name] for name in _PLACES if name in os.environ}
    meaningful = {
        name: value
        for name, value in os.environ.items()
        if (name in _MEANINGFUL or name.startswith(_MEANINGFUL_PREFIXES)) and name != _NOT_PASSED_ON
    }
    # Without it a Python program that walks through a set prints another order every time.
    meaningful.setdefault("PYTHONHASHSEED", "0")
    return places, meaningful


@dataclass(frozen=True, slots=True)
class Offered:
    """What a program is given that is no part of its identity."""

    argv: tuple[str, ...]
    #: Folder of the shipped files, and their names in it.
    staging: str
    links: tuple[str, ...]
    environment: Mapping[str, str]
    #: Seconds without progress after which it is ended; None for any.
    timeout: float | None
    verbose: bool = False
    #: Where its Python notes what it reads; empty where none runs.
    notes: str = ""

    def __incoop_identity__(self) -> None:
        """Nothing of it counts."""


@dataclass(frozen=True, slots=True)
class Program:
    """A command that can be run anywhere."""

    role: str
    text: str
    #: Names and digests of the files that the command names or is given.
    content: tuple[tuple[str, bytes], ...]
    environment: Mapping[str, str]
    exit_code_counts: bool
    offered: Offered

    def run(
        self, data: Iterable[bytes], task: Mapping[str, str], take: Callable[[bytes], object] | None = None
    ) -> Finished:
        """Run the command over pieces of input; `take` is given what it prints, while it goes on.

        What it counted is in what is returned, and is for the caller to count (`count_all`).
        """
        offered = self.offered
        environment = {**offered.environment, **task, **self.environment, **self._watched()}
        with tempfile.TemporaryDirectory(prefix="incoop-task-", ignore_cleanup_errors=True) as name:
            folder = Path(name)
            for link in offered.links:
                (folder / link).parent.mkdir(parents=True, exist_ok=True)
                (folder / link).symlink_to(Path(offered.staging) / link)
            first, *rest = offered.argv
            argv = [str(folder / first) if first in offered.links else first, *rest]
            done = run_command(
                argv,
                data,
                role=self.role,
                text=self.text,
                env=environment,
                folder=folder,
                timeout=offered.timeout,
                take=take,
            )
        if offered.verbose and done.last_lines:
            sys.stderr.write(f"{self.role}: {done.last_lines}\n")
        if done.code and self.exit_code_counts:
            what = f"ended with exit code {done.code}" if done.code > 0 else f"was ended by signal {-done.code}"
            raise CommandFailed(
                self.role,
                self.text,
                what,
                done.last_lines,
                "Mend it, or accept any exit code with -D stream.non.zero.exit.is.failure=false.",
            )
        return done

    def _watched(self) -> dict[str, str]:
        """Variables that let a Python which this command starts note what it reads (streaming_reads.py)."""
        if not self.offered.notes:
            return {}
        before = self.environment.get("PYTHONPATH")
        watched = {
            "INCOOP_READS": str(Path(self.offered.notes) / f"{uuid4().hex}.reads"),
            "INCOOP_STAGING": self.offered.staging,
            "PYTHONPATH": os.pathsep.join([str(WATCHING), *([before] if before else [])]),
        }
        return watched if before is None else {**watched, "INCOOP_PYTHONPATH": before}


def count_all(counters: Mapping[str, int]) -> None:
    """Add what a command counted to the counters of the task that ran it."""
    for name, amount in counters.items():
        counter(name, amount)


@dataclass(slots=True)
class ProgramBuilder:
    """Makes programs of commands, and gathers what has to be shipped for them."""

    shipments: list[ShippedFile]
    staging: Path
    #: Where it is kept what programs were seen to read.
    seen: Path
    #: Part of every program's identity.
    environment: Mapping[str, str]
    offered: Mapping[str, str]
    #: Files whose content counts though nothing ships them.
    depends_on: tuple[Path, ...] = ()
    exit_code_counts: bool = True
    timeout: float | None = None
    verbose: bool = False
    notes: list[str] = field(default_factory=list)

    def words(self, role: str, text: str) -> list[str]:
        """A command's words; a program that is shipped by its path is called by its name in the working folder.

        Files of the current folder that the command names are shipped, too.
        """
        words = split_command(text)
        if not words:
            raise CommandNotFound(role, text, "it is empty")
        shipped = {each.source.resolve(): each.link for each in self.shipments if not each.archive}
        links = {each.link for each in self.shipments}
        if words[0] not in links and (link := shipped.get(Path(words[0]).resolve())) is not None:
            words[0] = link
        for at, word in enumerate(words):
            path = Path(os.path.normpath(word))
            if word in links or path.is_absolute() or ".." in path.parts or not path.is_file():
                if at == 0 and str(path) in links:
                    words[0] = str(path)
                continue
            if path.as_posix() not in links:
                self.shipments.append(ShippedFile(path, path.as_posix()))
                links.add(path.as_posix())
                self.notes.append(f"{path} goes with the job: the {role} names it, though no -files does.")
            if at == 0:
                words[0] = path.as_posix()
        return words

    def build(self, role: str, text: str, words_of: Mapping[str, list[str]]) -> Program:
        """A program of the command of a role, once the words of all roles are known."""
        words = words_of[role]
        variables = {**self.offered, **self.environment}
        reads = CommandFiles(self.staging, variables)
        reads.command(words)
        # A module whose name is computed may be any that was shipped.
        given = self.shipments if reads.computes_names else self._given_to(role, words_of)
        links = tuple(each.link for each in given)
        content = [(each.link, each.digest()) for each in given]
        first = words[0]
        if first not in links:
            found = shutil.which(first, path=variables.get("PATH"))
            if found is None:
                why = "it is not executable (chmod +x)" if Path(first).is_file() else f"there is no program {first!r}"
                raise CommandNotFound(role, text, why)
            content.append(("program", folder_digest(Path(found).resolve())))
        content += reads.content()
        content += [("depends on", folder_digest(path)) for path in self.depends_on]
        notes = ""
        if reads.starts_python:
            told = repr((role, text, content, sorted(self.environment.items()), self.exit_code_counts))
            state = state_for(self.seen / xxhash.xxh3_128_hexdigest(told.encode("utf-8", "surrogateescape")))
            notes = str(state)
            content.append(("seen", state.name.encode()))
        offered = Offered(
            (first, *words[1:]), str(self.staging), links, self.offered, self.timeout, self.verbose, notes
        )
        return Program(role, text, tuple(content), self.environment, self.exit_code_counts, offered)

    def _given_to(self, role: str, words_of: Mapping[str, list[str]]) -> list[ShippedFile]:
        """What a role finds in its folder: all, but scripts of other roles that nothing of its own mentions.

        So a new reducer maps nothing again; and what is withheld cannot be read, so that it need not count.
        """
        others = {os.path.normpath(word) for other, words in words_of.items() if other != role for word in words}
        own = {os.path.normpath(word) for word in words_of[role]}
        doubtful = [each for each in self.shipments if each.link in others - own and each.source.is_file()]
        given = [each for each in self.shipments if each not in doubtful]
        if any(each.archive for each in given):  # which may hold programs that mention anything
            return self.shipments
        texts = [" ".join(words_of[role]).encode(), *(_text_of(each) for each in given)]
        while mentioned := [each for each in doubtful if any(_stem(each) in text for text in texts)]:
            given += mentioned
            doubtful = [each for each in doubtful if each not in mentioned]
            texts = [_text_of(each) for each in mentioned]
        return [each for each in self.shipments if each in given]

    def stage(self) -> None:
        """Copy what is shipped to where programs find it."""
        for each in self.shipments:
            each.stage(self.staging)

    def make_executable(self, programs: list[Program]) -> None:
        """Let the programs among what is shipped be run."""
        for program in programs:
            path = self.staging / program.offered.argv[0]
            if program.offered.argv[0] in program.offered.links and path.is_file() and not path.is_symlink():
                path.chmod(path.stat().st_mode | 0o111)


def _stem(shipment: ShippedFile) -> bytes:
    """A file's name as an import or a path would spell it."""
    return Path(shipment.link).name.partition(".")[0].encode()


def _text_of(shipment: ShippedFile) -> bytes:
    """What a shipped file says, or all files of a folder."""
    if not shipment.source.exists():
        return b""
    files = shipment.source.rglob("*") if shipment.source.is_dir() else [shipment.source]
    return b"\n".join(file.read_bytes() for file in files if file.is_file() and file.stat().st_size <= _SEARCHED)
