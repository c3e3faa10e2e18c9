"""Programs made of commands: their words, what is shipped for them, all content that counts as theirs."""

from __future__ import annotations

import os
import shutil
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from incoop.base.content_ids import content_id
from incoop.base.errors import IncoopError
from incoop.fingerprint.files import folder_digest
from incoop.fronts.common.command_files import CommandFiles
from incoop.fronts.streaming.program import Offered, Program
from incoop.fronts.streaming.seen_reads import state_for
from incoop.fronts.streaming.shipped_files import ShippedFile

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
            within = _is_within(path, links)
            if not within and (path.is_absolute() or ".." in path.parts or not path.is_file()):
                continue
            if not within:
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
        if not _is_within(Path(first), links):
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
            state = state_for(self.seen / content_id(told.encode("utf-8", "surrogateescape")).hex())
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
            shipped = _is_within(Path(program.offered.argv[0]), program.offered.links)
            if shipped and path.is_file() and not path.is_symlink():
                path.chmod(path.stat().st_mode | 0o111)


def _is_within(path: Path, links: Collection[str]) -> bool:
    """Whether a path is a shipped file's, or leads into a shipped folder or archive."""
    return any(each.as_posix() in links for each in (path, *path.parents))


def _stem(shipment: ShippedFile) -> bytes:
    """A file's name as an import or a path would spell it."""
    return Path(shipment.link).name.partition(".")[0].encode()


def _text_of(shipment: ShippedFile) -> bytes:
    """What a shipped file says, or all files of a folder."""
    if not shipment.source.exists():
        return b""
    files = shipment.source.rglob("*") if shipment.source.is_dir() else [shipment.source]
    return b"\n".join(file.read_bytes() for file in files if file.is_file() and file.stat().st_size <= _SEARCHED)
