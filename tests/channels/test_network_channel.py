"""Channels on networks load nothing before it is used."""

import subprocess
import sys


def test_nothing_of_the_extras_is_imported_before_it_is_used():
    program = (
        "import sys, fewsight.channels, fewsight.apps.workbench as w; w.describe_channels(); w.default_channels();"
        "print([n for n in sys.modules if n.startswith(('onnx', 'pyarrow', 'efficientnet', 'torch'))])"
    )
    assert subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True).stdout == "[]\n"
