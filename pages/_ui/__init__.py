"""What pages share. Importing this package imports all of its modules in one thread, but that of rooms: its database
takes a third of a second to import, and no other page needs it.

When several people open different pages of a server that has just been started, Python would import the same modules
from several threads in different orders; where two of them wait for each other it hands out modules that are half
imported. Here the first thread imports everything and the others wait for it, for every page imports this package
before anything else of the project.
"""

import importlib
import pkgutil

for _module in pkgutil.walk_packages(__path__, f"{__name__}."):
    if _module.name != f"{__name__}.room":
        importlib.import_module(_module.name)
