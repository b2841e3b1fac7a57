"""Folders, HTML files, archives and compression: what is told by content, and which URL a page gets."""

from __future__ import annotations

import tarfile
import zipfile
from importlib import import_module
from io import BytesIO
from pathlib import Path
from random import Random
from types import ModuleType

import pytest

from scrapy_simhash.exceptions import FileError, KindError
from scrapy_simhash.files.records import Broken, Record, folder, read, record
from scrapy_simhash.files.records.reading import kind_of
from scrapy_simhash.files.records.record import CODECS, Codec
from tests.files.records.pages import FERRY, PILOT, found, pages, passed_over, reasons

LINE = b'{"url": "https://example.com/line", "html": "<p>In a line."}\n'
PICTURE = b"\x89PNG\r\n\x1a\n\x00\x00"


def tree(folder: Path, files: dict[str, bytes | str]) -> Path:
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
    return folder


# --- Kinds.

KINDS = [
    (b"WARC/1.1\r\n", "pages.html", "warc"),
    (b"PAR1\x15\x04", "pages", "parquet"),
    (b"PK\x03\x04", "pages.html", "zip"),
    (b"<!DOCTYPE html>", "pages.csv", "html"),
    (b"\xef\xbb\xbf \n<p>", "pages", "html"),
    (b"<!-- saved --><html>", "pages", "html"),
    (b"<?xml version='1.0'?>\n<html xmlns='http://www.w3.org/1999/xhtml'>", "pages", "html"),
    ("<html>Лоцман".encode("utf-16"), "page", "html"),
    (b"<html>\x02", "page", "html"),
    (b"Said without a tag", "page.html", "html"),
    (b"Said without a tag", "page.txt", None),
    (b"<?xml version='1.0'?><gpx>", "page.xml", None),
    (b"<svg xmlns='http://www.w3.org/2000/svg'>", "boat.svg", None),
    (PICTURE, "boat.html", None),
    (b'\n {"url": 1}', "pages.csv", "jsonlines"),
    (b"{\n", "pages", "jsonlines"),
    (b'[\n{"url": 1}', "pages.jsonl", "json"),
    (b"[]", "pages", "json"),
    (b"url,html\n", "pages", "csv"),
    (b'name;"URL";html\n', "pages", "csv"),
    (b"a\tb\n", "pages.tsv", "csv"),
    (b"curly,html\n", "pages", None),
    (b"", "pages.jsonl", None),
]


@pytest.mark.parametrize(("head", "name", "kind"), KINDS)
def test_the_kind_is_told_by_the_first_bytes(head: bytes, name: str, kind: str | None) -> None:
    assert kind_of(head, name) == kind


def test_an_input_of_no_known_kind_is_refused_with_all_kinds(tmp_path: Path) -> None:
    path = tmp_path / "boat.html"
    path.write_bytes(PICTURE)
    with pytest.raises(KindError) as caught:
        found(path)
    assert str(caught.value) == (
        f"{path}: unknown kind of file; pages are read from folders, HTML, JSON Lines, JSON arrays, CSV, Parquet,"
        " WARC, WET, Scrapy's HTTP cache (a folder), zip, tar, and these compressed by gzip, zstd, bz2 or xz"
    )


def test_what_is_not_there_is_told_at_once(tmp_path: Path) -> None:
    with pytest.raises(FileError, match=r"^cannot read .*none\.jsonl: No such file or directory$"):
        read([tmp_path, tmp_path / "none.jsonl"])
    with pytest.raises(FileError, match=r"^cannot read .*\*\.html: "):
        read([tmp_path / "*.html"])


# --- Folders and URLs.


def test_a_folder_is_read_by_name_files_first_and_what_is_no_page_is_passed_over(tmp_path: Path) -> None:
    tree(
        tmp_path,
        {
            "b/one.html": "<p>1",
            "a/two": FERRY,
            "z.htm": "3",
            "lines.jsonl": LINE,
            "boat.png": PICTURE,
            "feed.xml": "<?xml version='1.0'?><rss>",
            "style.css": "p {}",
            "answer.json": '{\n"price": 7}',
            ".hidden.html": "<p>",
            ".git/page.html": "<p>",
            "empty": "",
        },
    )
    records = read([tmp_path])
    assert [one.place.removeprefix(f"{tmp_path}/") for one in records] == [
        "lines.jsonl:1",
        "z.htm",
        "a/two",
        "b/one.html",
    ]
    assert records.passed_over == {"not HTML": 4}
    assert records.share() == 1.0


MIRRORS = [
    ("example.com/a b.html", "https://example.com/a%20b.html"),
    ("example.com/index.html", "https://example.com/"),
    ("Example.COM/search?q=a%20b&c", "https://example.com/search?q=a%20b&c"),
    ("http/example.com/a/index.html", "http://example.com/a/"),
    ("mirror/www.example.co.uk/a", "https://www.example.co.uk/a"),
    ("127.0.0.1+8000/a.html", "https://127.0.0.1:8000/a.html"),
    ("localhost/é.html", "https://localhost/%C3%A9.html"),
]


@pytest.mark.parametrize(("name", "url"), MIRRORS)
def test_a_folder_that_is_called_like_a_host_makes_the_url(name: str, url: str, tmp_path: Path) -> None:
    tree(tmp_path / "saved", {name: FERRY})
    assert pages(tmp_path / "saved") == [(url, FERRY.encode())]
    with zipfile.ZipFile(tmp_path / "saved.zip", "w") as archive:
        archive.writestr(name, FERRY)
    assert pages(tmp_path / "saved.zip") == [(url, FERRY.encode())]


def test_the_folder_that_is_the_input_may_be_the_host(tmp_path: Path) -> None:
    tree(tmp_path / "example.com", {"a/b.html": FERRY})
    assert pages(tmp_path / "example.com") == [("https://example.com/a/b.html", FERRY.encode())]


def test_other_pages_have_the_url_of_their_file(tmp_path: Path) -> None:
    tree(tmp_path / "v1.2", {"a b?c.html": FERRY})
    path = tmp_path / "v1.2" / "a b?c.html"
    for given in (tmp_path / "v1.2", path, tmp_path / "*" / "*.html"):
        assert pages(given) == [(path.as_uri(), FERRY.encode())]


def test_a_link_to_a_folder_is_not_followed(tmp_path: Path) -> None:
    tree(tmp_path, {"a/page.html": FERRY})
    (tmp_path / "a" / "loop").symlink_to(tmp_path)
    (tmp_path / "a" / "gone.html").symlink_to(tmp_path / "none")
    assert len(pages(tmp_path)) == 1


# --- Compression.


def codecs() -> list[Codec]:
    made = []
    for codec in CODECS:
        try:
            codec.writer(BytesIO()).close()
        except KindError:
            continue
        made.append(codec)
    return made


def packed(codec: Codec, content: bytes) -> bytes:
    target = BytesIO()
    with codec.writer(target) as stream:
        stream.write(content)
    return target.getvalue()


@pytest.mark.parametrize("codec", codecs(), ids=lambda codec: codec.name)
def test_any_file_may_be_compressed_also_twice_and_whatever_it_is_called(
    codec: Codec, tmp_path: Path
) -> None:
    for name, content, url in (
        (f"lines.jsonl{codec.ending}", LINE, "https://example.com/line"),
        ("lines", LINE, "https://example.com/line"),
        (f"page.html{codec.ending}", b"no tag", (tmp_path / f"page.html{codec.ending}").as_uri()),
    ):
        (tmp_path / name).write_bytes(packed(codec, content))
        assert [found_url for found_url, _ in pages(tmp_path / name)] == [url]
    (tmp_path / "twice").write_bytes(packed(codec, packed(CODECS[0], LINE)))
    assert len(pages(tmp_path / "twice")) == 1
    # Two, one after the other, are one.
    (tmp_path / "appended").write_bytes(packed(codec, LINE) * 2)
    assert len(pages(tmp_path / "appended")) == 2


@pytest.mark.parametrize("codec", codecs(), ids=lambda codec: codec.name)
def test_compressed_data_that_is_cut_or_damaged_is_broken_and_what_came_before_is_read(
    codec: Codec, tmp_path: Path
) -> None:
    noise = Random(3)
    # bz2 has blocks of 900 kB, of which the first one is to be whole.
    number = 14_000 if codec.name == "bz2" else 3_000
    lines = b"".join(LINE[:-3] + noise.randbytes(30).hex().encode() + b'"}\n' for _ in range(number))
    whole = packed(codec, lines)
    path = tmp_path / "lines.jsonl"
    path.write_bytes(whole[: len(whole) * 2 // 3])
    records = found(path)
    assert len(records) > 500
    assert [one for one in records if isinstance(one, Broken)] == [
        Broken(str(path), f"the {codec.name} data ends too early", is_rest=True)
    ]
    damaged = bytearray(whole)
    for at in range(len(whole) * 3 // 4, len(whole) * 3 // 4 + 200):
        damaged[at] ^= 0x5A
    path.write_bytes(damaged)
    assert any(codec.name in reason or "JSON" in reason for reason in reasons(path))


def test_a_missing_extra_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(name: str) -> object:
        raise ImportError(name)

    monkeypatch.setattr(record, "import_module", missing)
    (tmp_path / "pages.zst").write_bytes(b"\x28\xb5\x2f\xfd")
    with pytest.raises(
        KindError, match=r"^zstd data needs backports.zstd: pip install 'scrapy-simhash\[zstd\]'$"
    ):
        found(tmp_path / "pages.zst")
    (tmp_path / "pages").write_bytes(b"PAR1")
    with pytest.raises(
        KindError, match=r"^Parquet needs pyarrow.parquet: pip install 'scrapy-simhash\[parquet\]'$"
    ):
        found(tmp_path / "pages")


def test_gzip_is_read_and_written_with_and_without_isal(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "lines.gz"
    with_isal = packed(CODECS[0], LINE) * 3
    path.write_bytes(with_isal)
    fast = pages(path)

    def without_isal(name: str) -> ModuleType:
        if name == "isal.igzip":
            raise ImportError(name)
        return import_module(name.replace("isal.isal_zlib", "zlib"))

    monkeypatch.setattr(record, "import_module", without_isal)
    assert pages(path) == fast
    without = packed(CODECS[0], LINE)
    # No time is in them: the same bytes always.
    assert with_isal[4:8] == without[4:8] == bytes(4)
    path.write_bytes(without)
    assert pages(path) == fast[:1]


# --- Archives.

MEMBERS: dict[str, bytes | str] = {
    "example.com/a.html": FERRY,
    "example.com/b": PILOT,
    "example.com/boat.png": PICTURE,
    "lines.jsonl": LINE,
    "../../up.html": "<p>Up",
    "/root.html": "<p>Root",
}


def archive_of(path: Path, members: dict[str, bytes | str]) -> Path:
    contents = {name: one.encode() if isinstance(one, str) else one for name, one in members.items()}
    if ".zip" in path.name:
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
            for name, content in contents.items():
                archive.writestr(name, content)
        return path
    mode = "w:gz" if path.suffix == ".gz" else "w"
    with tarfile.open(path, mode) as tar:  # type: ignore[call-overload]
        for name, content in contents.items():
            info = tarfile.TarInfo(name)
            info.size = len(content)
            tar.addfile(info, BytesIO(content))
    return path


ARCHIVES = ["pages.zip", "pages.tar", "pages.tar.gz"]


@pytest.mark.parametrize("name", ARCHIVES)
def test_the_members_of_an_archive_are_read_in_its_order_and_nothing_is_written(
    name: str, tmp_path: Path
) -> None:
    path = archive_of(tmp_path / name, MEMBERS)
    assert pages(path) == [
        ("https://example.com/a.html", FERRY.encode()),
        ("https://example.com/b", PILOT),
        ("https://example.com/line", "<p>In a line."),
        (f"{path.as_uri()}/up.html", b"<p>Up"),
        (f"{path.as_uri()}/root.html", b"<p>Root"),
    ]
    assert next(one.place for one in found(path)) == f"{path}!example.com/a.html"
    assert passed_over(path) == {"not HTML": 1}
    assert [one.name for one in tmp_path.iterdir()] == [name]
    assert len(pages(tmp_path)) == 5, "an archive in a folder"


@pytest.mark.parametrize("name", ARCHIVES)
def test_an_archive_in_an_archive_is_passed_over(name: str, tmp_path: Path) -> None:
    inner = archive_of(tmp_path / name, MEMBERS).read_bytes()
    path = archive_of(tmp_path / f"outer-{name}", {"inner": inner, "a.html": "<p>"})
    assert len(pages(path)) == 1
    assert passed_over(path) == {"an archive in an archive": 1}


@pytest.mark.parametrize("name", ARCHIVES)
def test_an_archive_that_is_cut_is_broken(name: str, tmp_path: Path) -> None:
    path = archive_of(tmp_path / name, {f"{at}.html": FERRY * at for at in range(100)})
    content = path.read_bytes()
    for share in (0.3, 0.5, 0.7):
        path.write_bytes(content[: int(len(content) * share)])
        assert reasons(path) != []


def test_what_is_damaged_in_a_member_costs_that_member(tmp_path: Path) -> None:
    path = archive_of(tmp_path / "pages.zip", {"a.html": FERRY, "b.html": PILOT, "c.html": FERRY})
    content = bytearray(path.read_bytes())
    at = content.index(b"b.html") + 20
    content[at : at + 8] = b"\xff" * 8
    path.write_bytes(content)
    assert [type(one) for one in found(path)] == [Record, Broken, Record]
    (reason,) = reasons(path)
    assert reason.startswith("!b.html the zip data is damaged: ")


def test_an_encrypted_member_is_broken(tmp_path: Path) -> None:
    path = archive_of(tmp_path / "pages.zip", {"a.html": FERRY})
    content = bytearray(path.read_bytes())
    for magic, at in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        content[content.index(magic) + at] |= 1
    path.write_bytes(content)
    (reason,) = reasons(path)
    assert reason.startswith("!a.html cannot be unpacked: ")


def test_a_member_without_a_name_is_none(tmp_path: Path) -> None:
    path = archive_of(tmp_path / "pages.zip", {"a": FERRY, "b.html": FERRY})
    path.write_bytes(path.read_bytes().replace(b"a", b"\x00", 3))
    assert all(isinstance(one, Broken | Record) for one in found(path))


@pytest.mark.parametrize("name", ["page.html", "page.html.gz", "page.zip", "page.tar"])
def test_a_page_that_is_too_large_or_becomes_so_is_not_read_to_its_end(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(folder, "LIMIT", 100_000)
    page = b"<p>" + b"x" * 3_000_000
    path = tmp_path / name
    if name.startswith("page.html"):
        path.write_bytes(packed(CODECS[0], page) if name.endswith("gz") else page)
    else:
        archive_of(path, {"a.html": page, "b.html": FERRY})
    (broken, *others) = found(path)
    assert isinstance(broken, Broken)
    assert [type(one) for one in others] == ([] if name.startswith("page.html") else [Record])


# --- Streams.


def test_a_pipe_is_told_by_content_too(tmp_path: Path) -> None:
    class Pipe(BytesIO):
        def seekable(self) -> bool:
            return False

        def read1(self, size: int | None = -1) -> bytes:
            return super().read1(100 if size is None or size < 0 else min(size, 100))

    warc_like = archive_of(tmp_path / "pages.tar.gz", MEMBERS).read_bytes()
    for content, number in ((LINE * 9, 9), (FERRY.encode(), 1), (warc_like, 5), (packed(CODECS[0], LINE), 1)):
        assert len(list(read([Pipe(content)]))) == number
    zipped = archive_of(tmp_path / "pages.zip", MEMBERS).read_bytes()
    assert list(read([Pipe(zipped)])) == [
        Broken("<stream>", "zip can be read from a file only, not through a pipe or compressed", is_rest=True)
    ]


def test_the_share_that_was_read_grows_to_one(tmp_path: Path) -> None:
    for number in range(3):
        tree(tmp_path / "pages", {f"{number}/{at}.html": FERRY for at in range(5)})
    (tmp_path / "lines.jsonl").write_bytes(LINE * 3_000)
    for inputs in ([tmp_path / "lines.jsonl"] * 2, [tmp_path / "pages"], [tmp_path]):
        records = read(inputs)
        shares = [records.share() for _ in records]
        assert shares == sorted(shares, key=lambda share: share or 0.0)
        assert records.share() == 1.0
    assert read([BytesIO(LINE)]).share() is None
