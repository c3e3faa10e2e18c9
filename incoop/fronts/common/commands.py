"""Commands of a user's job that fail."""

from __future__ import annotations

from incoop.base.errors import IncoopError


class CommandFailed(IncoopError):
    """A command ended with an exit code that is not 0, did not start, or did nothing for too long."""

    def __init__(self, role: str, command: str, what: str, last_lines: str, remedy: str) -> None:
        super().__init__(role, command, what, last_lines, remedy)
        self.role, self.command, self.what, self.last_lines, self.remedy = role, command, what, last_lines, remedy

    def __str__(self) -> str:
        said = f"Its last words on standard error:\n{self.last_lines}" if self.last_lines else "It said nothing."
        return f"the {self.role} {self.command!r} {self.what}. {said}\n{self.remedy}"
