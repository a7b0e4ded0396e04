"""The class's room: people answer a question by randomized response from their phones.

`store` keeps rooms, questions and reports; `routes` is what phones ask for; `phone.html` is all that a phone loads.
"""

from __future__ import annotations

import threading

# Set while a server answers phones: Streamlit alone, without `app.py`, does not.
SERVED = threading.Event()
