"""What a release is made with: version and changes, the workflows, and the recipes that repeat pyproject.toml."""

from __future__ import annotations

import re
import shutil
from importlib.metadata import metadata
from importlib.util import find_spec
from pathlib import Path

import pytest

from packages import release
from scrapy_simhash import __version__
from tests.docs.reader import ROOT

GITHUB = ROOT / ".github"
WORKFLOWS = sorted((GITHUB / "workflows").glob("*.yml"))
PYPROJECT = (ROOT / "pyproject.toml").read_text("utf-8")
FRAGMENTS = {
    "faster.changed.md": "A search took\na second: it takes half of one.\n",
    "floods.added.md": "Floods are told.\n",
    "links.fixed.md": "Links were lost.\n",
}


# --- Preparing a release.


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """What a release reads and writes, with a released version and a fragment of three kinds."""
    (tmp_path / "scrapy_simhash").mkdir()
    (tmp_path / "changelog.d").mkdir()
    shutil.copy(ROOT / "scrapy_simhash" / "__init__.py", tmp_path / "scrapy_simhash")
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    shutil.copy(ROOT / "changelog.d" / "README.md", tmp_path / "changelog.d")
    for name, text in FRAGMENTS.items():
        (tmp_path / "changelog.d" / name).write_text(text, "utf-8")
    (tmp_path / "CHANGES.md").write_text("# Changes\n\n## 0.0.1 (2020-01-01)\n\nThe first.\n", "utf-8")
    return tmp_path


def test_a_release_gathers_the_fragments_by_kind_and_writes_the_version(checkout: Path) -> None:
    release.prepare(checkout, "9.1.0", "2030-02-03")
    assert (checkout / "CHANGES.md").read_text("utf-8") == (
        "# Changes\n\n## 9.1.0 (2030-02-03)\n\n"
        "### Added\n\n- Floods are told.\n\n"
        "### Changed\n\n- A search took a second: it takes half of one.\n\n"
        "### Fixed\n\n- Links were lost.\n\n"
        "## 0.0.1 (2020-01-01)\n\nThe first.\n"
    )
    assert [path.name for path in (checkout / "changelog.d").iterdir()] == ["README.md"]
    assert release.version_of(checkout) == "9.1.0"
    assert "import_module" in (checkout / "scrapy_simhash" / "__init__.py").read_text("utf-8")


def test_the_text_of_a_version_that_tells_what_there_is_gets_its_date_only(checkout: Path) -> None:
    changes = checkout / "CHANGES.md"
    changes.write_text("# Changes\n\n## 0.1.0 (unreleased)\n\nThe first.\n", "utf-8")
    with pytest.raises(release.Refused, match=r"floods\.added\.md, faster\.changed\.md, links\.fixed\.md"):
        release.prepare(checkout, "0.1.0", "2030-02-03")
    for name in FRAGMENTS:
        (checkout / "changelog.d" / name).unlink()
    release.prepare(checkout, "0.1.0", "2030-02-03")
    assert changes.read_text("utf-8") == "# Changes\n\n## 0.1.0 (2030-02-03)\n\nThe first.\n"


def test_nothing_is_released_twice_and_nothing_without_a_change(checkout: Path) -> None:
    release.prepare(checkout, "9.1.0", "2030-02-03")
    with pytest.raises(release.Refused, match=r"has 9\.1\.0 already"):
        release.prepare(checkout, "9.1.0", "2030-02-04")
    with pytest.raises(release.Refused, match="nothing has changed"):
        release.prepare(checkout, "9.2.0", "2030-02-04")
    assert release.version_of(checkout) == "9.1.0"


def test_what_stands_against_publishing_is_said_in_full(checkout: Path) -> None:
    said = " ".join(release.problems(checkout, "v8"))
    for word in (f"must be v{__version__}", "no section", "has 3 fragments", "[project.urls]"):
        assert word in said
    release.prepare(checkout, "9.1.0", "2030-02-03")
    pyproject = checkout / "pyproject.toml"
    filled = PYPROJECT.replace("[project.urls]\n", '[project.urls]\nSource = "https://example.com/"\n')
    pyproject.write_text(filled, "utf-8")
    assert release.problems(checkout, "v9.1.0") == []


def test_the_command_ends_with_what_is_wrong(capsys: pytest.CaptureFixture[str]) -> None:
    assert release.main(["check", "v0"]) == 1
    assert f"it must be v{__version__}" in capsys.readouterr().err


# --- What repeats pyproject.toml.


def test_the_conda_recipe_wants_what_pyproject_wants() -> None:
    recipe = (ROOT / "packages" / "conda" / "recipe.yaml").read_text("utf-8")
    listed = re.search(r"^dependencies = \[\n(.*?)^\]", PYPROJECT, re.MULTILINE | re.DOTALL)
    built = re.search(r"^requires = \[(.+)\]$", PYPROJECT, re.MULTILINE)
    assert listed
    assert built
    wanted = re.findall(r'"([^"]+?)(>=[^"]+)"', listed[1] + built[1])
    names = {"xxhash": "python-xxhash", "Cython": "cython"}
    assert wanted
    for name, least in wanted:
        assert f"    - {names.get(name, name)} {least}\n" in recipe


def test_the_oldest_versions_that_are_tried_are_those_that_are_allowed() -> None:
    tox = (ROOT / "tox.ini").read_text("utf-8")
    listed = re.search(r"^dependencies = \[\n(.*?)^\]", PYPROJECT, re.MULTILINE | re.DOTALL)
    assert listed
    for name, least in re.findall(r'"([a-z0-9]+)>=([^"]+)"', listed[1] + '"redis>=5.0"'):
        assert re.search(rf"^    {name}=={re.escape(least)}(\.0)?$", tox, re.MULTILINE), name


def test_everything_it_needs_may_be_used_by_everybody() -> None:
    """The licences of the direct dependencies, as their packages name them."""
    free = ("BSD", "MIT", "APACHE", "MPL")
    listed = re.search(r"^dependencies = \[\n(.*?)^\]", PYPROJECT, re.MULTILINE | re.DOTALL)
    assert listed
    extra = ["redis"] if find_spec("redis") else []
    for name in [*re.findall(r'"([a-z0-9]+)>=', listed[1]), *extra]:
        fields = metadata(name)
        said = fields.get_all("License-Expression", []) + fields.get_all("License", [])
        said += [line for line in fields.get_all("Classifier", []) if line.startswith("License")]
        assert any(word in text.upper() for text in said for word in free), (name, said)


# --- Workflows.


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_actions_are_pinned_by_the_hash_of_a_commit_with_the_version_beside(path: Path) -> None:
    for used in re.findall(r"uses: (.+)", path.read_text("utf-8")):
        if not used.startswith("./"):
            assert re.fullmatch(r"[\w-]+/[\w-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+", used)
        else:
            assert (ROOT / used.split()[0]).is_file()


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_a_job_may_do_nothing_but_read_unless_it_publishes(path: Path) -> None:
    text = path.read_text("utf-8")
    assert "\npermissions: {}\n" in text
    jobs = re.split(r"^  (\w+):\n", text.partition("\njobs:\n")[2], flags=re.MULTILINE)[1:]
    for job, body in zip(jobs[::2], jobs[1::2], strict=True):
        allowed = re.search(r"^    permissions:\n((?:      .+\n)+)", body, re.MULTILINE)
        assert allowed, job
        granted = re.findall(r"([\w-]+): (\w+)", allowed[1])
        assert granted == [("id-token", "write") if job == "publish" else ("contents", "read")]
    assert text.count("actions/checkout@") == text.count("persist-credentials: false")


def test_workflows_call_targets_and_environments_that_exist() -> None:
    text = "".join(path.read_text("utf-8") for path in WORKFLOWS)
    makefile = (ROOT / "Makefile").read_text("utf-8")
    tox = (ROOT / "tox.ini").read_text("utf-8")
    listed = re.search(r"^env_list = (.+)$", tox, re.MULTILINE)
    assert listed
    targets = re.findall(r"run: make ([\w-]+)", text)
    assert targets
    for target in targets:
        assert re.search(rf"^{target}:", makefile, re.MULTILINE)
    named = re.findall(r"tox: ([\w-]+) ", text) + re.findall(r"tox: \[(.+)\]", text)[0].split(", ")
    assert set(named) <= set(listed[1].split(", "))
    for file in re.findall(r"python (\w+/\S+\.py)", text):
        assert (ROOT / file).is_file()


def test_no_address_of_the_project_is_invented() -> None:
    """As long as [project.urls] is empty, nothing that is handed out names a repository or a site of ours."""
    urls = re.search(r"^\[project\.urls\]\n(.*?)(?=^\[)", PYPROJECT, re.MULTILINE | re.DOTALL)
    assert urls
    if "=" in urls[1]:
        pytest.skip("the project has addresses")
    handed_out = [
        path for folder in (GITHUB, ROOT / "packages") for path in folder.rglob("*") if path.is_file()
    ]
    for path in [*handed_out, ROOT / "README.md", ROOT / "CHANGES.md", ROOT / "pyproject.toml"]:
        if path.suffix != ".pyc":
            text = path.read_text("utf-8")
            assert not re.search(
                r"(?:github\.com/[\w-]+/|pypi\.org/\S*|readthedocs\.\w+/\S*)scrapy-simhash", text
            )
