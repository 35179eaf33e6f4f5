"""What pyproject.toml cannot say: the wheel carries the app, which lies beside the package.

`app.py`, `pages`, `assets` and the configuration stay at the top of the repository; the wheel has
them in `seqviz/_app`, where `seqviz/core/paths.py` finds them.
"""

import shutil
from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py

ROOT = Path(__file__).resolve().parent
FOLDERS = {  # from -> to; what the browser loads is carried once, where Streamlit looks for it
    "pages": "pages",
    ".streamlit": ".streamlit",
    "assets/checkpoints": "assets/checkpoints",
    "assets/data": "assets/data",
    "assets/fonts": "assets/fonts",
    "assets/glossary": "assets/glossary",
    "assets/lessons": "assets/lessons",
    "assets/locale": "assets/locale",
    "assets/pictures": "assets/pictures",
    "assets/static": "static",
    "docs/teaching": "docs/teaching",
}
LEFT_OUT = shutil.ignore_patterns("__pycache__", "secrets.toml", ".*_cache", ".DS_Store")


class CarryApp(build_py):
    """Build the package with the app inside."""

    def run(self) -> None:
        """Begin anew, as what is left of a former build would go into the wheel; then the app."""
        package = Path(self.build_lib) / "seqviz"
        if not self.editable_mode:
            shutil.rmtree(package, ignore_errors=True)
        super().run()
        if not self.editable_mode:
            target = package / "_app"
            for source, name in FOLDERS.items():
                shutil.copytree(ROOT / source, target / name, ignore=LEFT_OUT)
            shutil.copy2(ROOT / "app.py", target)


setup(cmdclass={"build_py": CarryApp})
