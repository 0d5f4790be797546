"""No test writes into the folder where the user's machine code is kept."""

import os

os.environ["CHAINRULES_CACHE"] = "off"
