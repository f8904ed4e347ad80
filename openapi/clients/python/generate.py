"""Generates `creator_api_client.generated` from the contract, when the wheel is built."""

import pathlib
import subprocess
import sys

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class GenerateHook(BuildHookInterface):
    """Runs openapi-python-client."""

    def initialize(self, version, build_data):
        """Generates the code. A source distribution contains the contract; the repository has it elsewhere."""
        root = pathlib.Path(self.root)
        document = root / "openapi.json"
        if not document.exists():
            document = root / "../../../src/api/generated/v1.clients.json"
        command = [sys.executable, "-m", "openapi_python_client", "generate", "--overwrite", "--meta", "none"]
        command += ["--path", document, "--config", root / "generate.yml"]
        command += ["--output-path", root / "src/creator_api_client/generated"]
        subprocess.run(command, check=True)
