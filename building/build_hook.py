"""Build hook: compile the accelerator into the wheel, or into the checkout of an editable install.

Without a C compiler, or where it fails, the package is built without it, and is as right, only
slower on single numbers: see docs/accelerator.md.
"""

import shutil
import sys
import sysconfig
import tempfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

ROOM = "rules/accelerated"


class AcceleratorHook(BuildHookInterface):
    """Compile ``rules/accelerated/numbers.c``."""

    def dependencies(self) -> list[str]:
        return ["numpy>=2", "setuptools"]

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        if self.target_name != "wheel" or not is_supported():
            return
        self.folder = tempfile.mkdtemp()
        room = Path(self.root, ROOM)
        built = compiled(room, Path(self.folder))
        if built is None:
            self.app.display_warning("the accelerator was not compiled: the wheel goes without it")
        elif version == "editable":
            shutil.copyfile(built, room / built.name)
        else:
            build_data["pure_python"] = False
            build_data["infer_tag"] = True
            build_data["force_include"][str(built)] = f"chainrules/{ROOM}/{built.name}"

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        if hasattr(self, "folder"):
            shutil.rmtree(self.folder, ignore_errors=True)


def is_supported() -> bool:
    """Say whether this Python has slots at offsets, and one thread at a time that reads them."""
    ours = sys.implementation.name == "cpython"
    return ours and not sysconfig.get_config_var("Py_GIL_DISABLED")


def compiled(room: Path, folder: Path) -> Path | None:
    """Return the extension module that was compiled from a room's sources; None if none was."""
    import numpy as np
    from setuptools import Distribution, Extension
    from setuptools.command.build_ext import build_ext

    sys.path.insert(0, str(room))
    try:
        from digest import digest_of
    finally:
        sys.path.remove(str(room))
    extension = Extension(
        "_numbers",
        [str(room / "numbers.c")],
        include_dirs=[np.get_include()],
        define_macros=[("CHAINRULES_DIGEST", f'"{digest_of(room)}"')],
        # A product and a sum are rounded one after the other, as Python rounds them.
        extra_compile_args=[] if sys.platform == "win32" else ["-O2", "-g0", "-ffp-contract=off"],
    )
    command = build_ext(Distribution({"name": "chainrules", "ext_modules": [extension]}))
    command.build_lib = command.build_temp = str(folder)
    command.ensure_finalized()
    try:
        command.run()
    except Exception as error:  # no compiler, no header files, or one that does not understand
        print(error, file=sys.stderr)
        return None
    return Path(command.get_ext_fullpath("_numbers"))
