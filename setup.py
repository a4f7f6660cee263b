"""What pyproject.toml cannot say: the application, at the top of the repository, is installed too.

`normgeo open` finds it in the package, as `normgeo/explorer/`.
"""

from setuptools import find_packages, setup
from setuptools.command.build_py import build_py


class WithoutThisFile(build_py):
    """Takes app.py, not setup.py, from the top of the repository."""

    def find_package_modules(self, package, package_dir):
        found = super().find_package_modules(package, package_dir)
        return [entry for entry in found if entry[1] != "setup"]


setup(
    packages=[*find_packages(include=["normgeo*"]), "normgeo.explorer", "normgeo.explorer.pages"],
    package_dir={"normgeo.explorer": ".", "normgeo.explorer.pages": "pages"},
    cmdclass={"build_py": WithoutThisFile},
)
