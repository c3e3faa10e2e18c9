"""A page as a strict reader finds it: elements that nest, names that are there once, and what it says."""

from __future__ import annotations

from html.parser import HTMLParser

#: Elements without content.
_VOID = {"meta", "br"}

#: `path` is closed where it is opened.
_PHRASING_ONLY = {"p", "h1", "h2", "h3", "figcaption", "summary"}

_BLOCKS = {"p", "div", "table", "ul", "section", "figure", "h1", "h2", "h3", "details", "svg"}


class ReadPage(HTMLParser):
    """Elements and texts in order; raises where HTML is not well formed."""

    def __init__(self, page: str) -> None:
        super().__init__(convert_charrefs=True)
        self.elements: list[tuple[str, tuple[tuple[str, str | None], ...]]] = []
        self.texts: list[str] = []
        self.ids: list[str] = []
        self._open: list[str] = []
        assert page.startswith("<!DOCTYPE html>\n<html lang=")
        self.feed(page)
        self.close()
        assert self._open == [], f"never closed: {self._open}"
        assert len(set(self.ids)) == len(self.ids)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in _BLOCKS and self._open:
            assert self._open[-1] not in _PHRASING_ONLY, f"{tag} in {self._open[-1]}"
        if tag in ("td", "th"):
            assert self._open[-1] == "tr"
        if tag == "li":
            assert self._open[-1] == "ul"
        self._note(tag, attrs)
        if tag not in _VOID:
            self._open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert tag == "path"
        self._note(tag, attrs)

    def _note(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, tuple(attrs)))
        self.ids += [value for name, value in attrs if name == "id" and value]

    def handle_endtag(self, tag: str) -> None:
        assert self._open and self._open[-1] == tag, f"</{tag}> closes {self._open[-1:]}"
        self._open.pop()

    def handle_data(self, data: str) -> None:
        if self._open and self._open[-1] != "style":
            self.texts.append(data)

    def handle_comment(self, data: str) -> None:
        raise AssertionError(f"a comment: {data}")

    @property
    def tags(self) -> list[str]:
        return [tag for tag, _ in self.elements]

    @property
    def said(self) -> str:
        return " ".join(self.texts)
