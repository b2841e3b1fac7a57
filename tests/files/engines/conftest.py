"""Leave out these tests without pyarrow, which all of them need."""

from importlib.util import find_spec

collect_ignore_glob = [] if find_spec("pyarrow") else ["*.py"]
