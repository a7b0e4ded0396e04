"""The script that a page gives for download."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

VERSION = "0.1.0"
_SCRIPT = '''"""Recomputes the numbers of a page, by rr_core {version}. Run it from the folder that holds rr_core."""

LINK = {link!r}
FILES = {files!r}{where}

try:
    import rr_core
    result = rr_core.recompute(LINK, FILES{settings})
    result.save({saved!r})  # every row
    print(result)
except ModuleNotFoundError as error:
    raise SystemExit(f"{{error}}: put the app's folder rr_core beside this, and install numpy, scipy, pyarrow.") from None
except (OSError, ValueError) as error:
    raise SystemExit(f"{{error}}") from None
'''


def script(link: str, files: Sequence[str] = (), **settings: Any) -> str:
    """Python that calls `rr_core.recompute` with these arguments; names from files enter it as literals only."""
    return _SCRIPT.format(
        version=VERSION,
        link=link,
        files=list(files),
        saved="recomputed.csv" if "recomputed.csv" not in files else "recomputed again.csv",
        where="  # they stayed with you: put them beside this script" if files else "",
        settings="".join(f",\n        {name}={value!r}" for name, value in settings.items()),
    )
