"""Downloads against a server of our own: whole, broken off, wrong, dead; and what is searched."""

import hashlib
import http.server
import io
import socket
import threading
import zipfile
from typing import ClassVar

import pytest

from hashbench.core.errors import HashbenchError
from hashbench.plugins.downloads import (
    DataFile,
    check,
    data_folders,
    fetch,
    find,
    git_blob_id,
    locate,
)

CONTENT = bytes(range(256)) * 400
SHA256 = hashlib.sha256(CONTENT).hexdigest()
GIT_BLOB = hashlib.sha1(f"blob {len(CONTENT)}\0".encode() + CONTENT).hexdigest()


def archive_of(**members):
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        for name, content in members.items():
            archive.writestr(f"repository-abc/deep/{name}.mat", content)
    return stream.getvalue()


class Handler(http.server.BaseHTTPRequestHandler):
    bodies: ClassVar = {
        "/good.mat": CONTENT,
        "/truncated.mat": CONTENT,
        "/wrong.mat": CONTENT[::-1],
        "/archive.zip": archive_of(file=CONTENT, other=b"x"),
        "/archive-wrong.zip": archive_of(file=CONTENT[::-1]),
        "/archive-without.zip": archive_of(other=CONTENT),
        "/archive-broken.zip": archive_of(file=CONTENT)[:-30],
    }

    def do_GET(self):
        self.server.asked.append(self.path)
        body = self.bodies.get(self.path)
        if body is None:
            self.send_error(404)
            return
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body[: len(body) // 2] if "truncated" in self.path else body)

    def log_message(self, *arguments):
        pass


@pytest.fixture
def server():
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        server.asked = []
        # the end of a test waits for its next look
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        yield server
        server.shutdown()


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    monkeypatch.delenv("HASHBENCH_DATA", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    folder = data_folders()[-1]
    assert tmp_path in folder.parents
    return folder


def file_at(server, name):
    url = f"http://127.0.0.1:{server.server_port}/{name}"
    return DataFile("set/file.mat", SHA256, url, "numbers")


def test_a_git_blob_id_is_a_checksum(server, cache):
    url = f"http://127.0.0.1:{server.server_port}"
    file = DataFile("set/file.mat", url=f"{url}/good.mat", git_blob=GIT_BLOB)
    assert check(file) == "missing"
    path = fetch(file, "set")
    assert (check(file), path.read_bytes()) == ("ok", CONTENT)
    path.write_bytes(CONTENT[:-1])
    assert check(file) == "wrong checksum"
    path.unlink()
    with pytest.raises(HashbenchError, match=GIT_BLOB):
        fetch(DataFile("set/file.mat", url=f"{url}/wrong.mat", git_blob=GIT_BLOB), "set")
    assert leftovers(cache) == []


def test_the_blob_id_of_an_empty_file_is_the_one_of_git(tmp_path):
    (tmp_path / "empty").touch()
    assert git_blob_id(tmp_path / "empty") == "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391"


def leftovers(cache):
    return [path for path in cache.rglob("*") if path.is_file()]


@pytest.mark.parametrize("name", ["good.mat", "archive.zip"])
def test_a_download_arrives_whole_and_once(server, cache, name):
    file = file_at(server, name)
    place = fetch(file, "set")
    assert place == cache / "set" / "file.mat"
    assert place.read_bytes() == CONTENT
    assert leftovers(cache) == [place]
    assert (check(file), locate(file, "set")) == ("ok", place)
    assert fetch(file, "set") == place
    assert len(server.asked) == 1


@pytest.mark.parametrize(
    "name",
    [
        "truncated.mat",
        "wrong.mat",
        "absent.mat",
        "archive-wrong.zip",
        "archive-without.zip",
        "archive-broken.zip",
    ],
)
def test_a_bad_download_is_reported_in_one_line_and_leaves_nothing(server, cache, name):
    file = file_at(server, name)
    with pytest.raises(HashbenchError) as error:
        fetch(file, "set")
    for fact in ("set/file.mat ", file.url, str(cache / "set" / "file.mat")):
        assert fact in str(error.value)
    assert "\n" not in str(error.value)
    assert leftovers(cache) == []


def test_a_dead_server(cache):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))  # not listening: whoever knocks is refused
        url = f"http://127.0.0.1:{taken.getsockname()[1]}/good.mat"
        with pytest.raises(HashbenchError, match="connection") as error:
            fetch(DataFile("set/file.mat", SHA256, url), "set")
    for fact in ("set/file.mat ", url, str(cache / "set" / "file.mat")):
        assert fact in str(error.value)
    assert leftovers(cache) == []


def test_a_cache_that_cannot_be_written(server, cache):
    cache.parent.mkdir(parents=True)
    cache.write_text("a file where the folder should be")
    with pytest.raises(HashbenchError, match=r"set/file\.mat .*/good\.mat.*Not a directory"):
        fetch(file_at(server, "good.mat"), "set")


def test_a_wrong_copy_in_the_cache_is_replaced(server, cache):
    place = cache / "set" / "file.mat"
    place.parent.mkdir(parents=True)
    place.write_bytes(b"old")
    file = file_at(server, "good.mat")
    assert check(file) == "wrong checksum"
    assert fetch(file, "set").read_bytes() == CONTENT


def test_a_failed_replacement_keeps_the_copy(server, cache):
    place = cache / "set" / "file.mat"
    place.parent.mkdir(parents=True)
    place.write_bytes(b"old")
    with pytest.raises(HashbenchError):
        fetch(file_at(server, "wrong.mat"), "set")
    assert place.read_bytes() == b"old"


def test_a_wrong_copy_of_the_user_is_left_to_the_user(server, tmp_path, monkeypatch):
    place = tmp_path / "mine" / "set" / "file.mat"
    place.parent.mkdir(parents=True)
    place.write_bytes(b"old")
    monkeypatch.setenv("HASHBENCH_DATA", str(tmp_path / "mine"))
    with pytest.raises(HashbenchError, match=rf"{place}.*checksum"):
        fetch(file_at(server, "good.mat"), "set")
    assert place.read_bytes() == b"old"
    assert server.asked == []


def test_folders_are_searched_in_order(tmp_path, monkeypatch, cache):
    file = DataFile("set/file.mat")
    assert find(file) is None
    for folder in (cache, tmp_path / "b", tmp_path / "a"):
        (folder / "set").mkdir(parents=True)
        (folder / "set" / "file.mat").touch()
    assert find(file) == cache / "set" / "file.mat"
    monkeypatch.setenv("HASHBENCH_DATA", f"{tmp_path / 'none'}:{tmp_path / 'a'}:{tmp_path / 'b'}")
    assert find(file) == tmp_path / "a" / "set" / "file.mat"


def test_the_error_of_a_missing_file_says_how_to_get_it(cache):
    with pytest.raises(HashbenchError, match=r"set/file\.mat.*`hashbench data fetch set`"):
        locate(DataFile("set/file.mat", SHA256, "http://127.0.0.1:9/file.mat"), "set")
    closed = DataFile("set/file.mat", content="XAll, 9 x 9")
    for get in (locate, fetch):
        with pytest.raises(HashbenchError, match="XAll, 9 x 9") as error:
            get(closed, "set")
        assert str(cache / "set" / "file.mat") in str(error.value)
        assert "data fetch" not in str(error.value)
    assert check(closed) == "missing"
