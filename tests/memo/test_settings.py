"""The contract in every setting: private, by unix socket, by port with a password, by TLS with a user."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from .contract import MemoStoreContract
from .places import Place
from .servers import RealServer, supports_tls


def opened(folder: Path, server: RealServer | None) -> Iterator[Place]:
    place = Place(folder, server)
    try:
        yield place
    finally:
        place.close()


class TestPrivateServer(MemoStoreContract):
    @pytest.fixture
    def place(self, folder: Path) -> Iterator[Place]:
        yield from opened(folder, None)


class TestUnixAddress(MemoStoreContract):
    @pytest.fixture
    def place(self, folder: Path) -> Iterator[Place]:
        yield from opened(folder, RealServer(folder.parent / "redis", "unix"))


class TestPortWithPassword(MemoStoreContract):
    @pytest.fixture
    def place(self, folder: Path) -> Iterator[Place]:
        yield from opened(folder, RealServer(folder.parent / "redis", "password"))


@pytest.mark.skipif(not supports_tls(), reason="the server found has no TLS")
class TestTlsWithUser(MemoStoreContract):
    @pytest.fixture
    def place(self, folder: Path) -> Iterator[Place]:
        yield from opened(folder, RealServer(folder.parent / "redis", "tls"))
