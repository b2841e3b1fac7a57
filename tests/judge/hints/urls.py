"""Random URLs from parts that have a meaning in rules, so that rules are combined."""

from __future__ import annotations

from hypothesis import strategies as st

_HOSTS = st.sampled_from(
    [
        "example.com",
        "www.example.com",
        "WWW.www.example.com.",
        "[::1]",
        "example.com:443",
        "a@example.com:80",
        "é.com",
    ]
)
_PARTS = st.sampled_from(
    [
        "",
        "/",
        "//",
        "/index.html",
        "/default.asp",
        ";jsessionid=1",
        "/boats",
        "/page/2",
        "-p3.html",
        "/2024/05",
        "/..",
        "/%2e",
    ]
)
_PARAMETERS = st.sampled_from(
    ["", "page=2", "page", "p=3", "utm_source=x", "month=2024-05", "b=2", "a=1", "a=", "=", "%", "sid=7"]
)
URLS = st.builds(
    lambda scheme, host, path, query, end: f"{scheme}://{host}{''.join(path)}?{'&'.join(query)}{end}",
    st.sampled_from(["http", "https", "HTTP", "ftp"]),
    _HOSTS,
    st.lists(_PARTS, max_size=4),
    st.lists(_PARAMETERS, max_size=4),
    st.sampled_from(["", "#", "#top", "#?#"]),
)
