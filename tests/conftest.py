"""Tests import the modules beside them, and in other folders of tests, by their names.

No test writes into the folder where the user's machine code is kept.
"""

import os
import sys
from pathlib import Path

os.environ["CHAINRULES_CACHE"] = "off"
sys.path += [str(path) for path in Path(__file__).parent.iterdir() if path.is_dir()]
