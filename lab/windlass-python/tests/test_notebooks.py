"""The notebooks of `examples/`, executed cell by cell as a reader would."""

import nbformat
import pytest
from conftest import ROOT
from nbclient import NotebookClient


@pytest.mark.parametrize("path", sorted((ROOT / "examples").glob("*.ipynb")), ids=lambda p: p.stem)
def test_a_notebook_runs_from_top_to_bottom(path, tmp_path):
    notebook = nbformat.read(path, as_version=4)
    assert not any(cell.get("outputs") for cell in notebook.cells), "notebooks are kept without outputs"
    # In a copy of the layout around `examples/`, so that results stay in the temporary folder.
    (tmp_path / "examples").mkdir()
    resources = {"metadata": {"path": str(tmp_path / "examples")}}
    done = NotebookClient(notebook, timeout=120, resources=resources).execute()
    kinds = {kind for cell in done.cells for output in cell.get("outputs", []) for kind in output.get("data", {})}
    errors = [output for cell in done.cells for output in cell.get("outputs", []) if output["output_type"] == "error"]
    assert not errors and ("image/png" in kinds or "papers" in path.stem)
