"""Forged pickles are refused without harm; those of every program that people use are read."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from mentornet.data import read_labels
from mentornet.data.files.pickled_parts import PickledArray
from mentornet.data.files.plain_pickle import unpickle
from tests.data.files.pickles import FORGED, as_npy, as_pt, old_numpy

_READ = """
import faulthandler, resource, sys
from pathlib import Path
faulthandler.enable()
from mentornet import MentorNetError
from mentornet.data import read_labels
from mentornet.data.sets.cifar_python import read_pickle
used = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (used + (1 << 29),) * 2)
for path in map(Path, sys.argv[1:]):
    try:
        read_labels(path, "clean_label") if path.suffix else read_pickle(path)
    except MentorNetError as error:
        assert "\\n" not in str(error) and path.name in str(error), error
        print("refused", path.name)
    else:
        print("READ", path.name)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="limits the memory of a process")
def test_forged_pickles_are_refused_and_corrupt_nothing(tmp_path: Path) -> None:
    paths = []
    for number, raw in enumerate(FORGED.values()):
        (tmp_path / f"{number}.npy").write_bytes(as_npy(raw))
        (tmp_path / f"{number}_batch").write_bytes(raw)
        as_pt(raw, tmp_path / f"{number}.pt")
        paths += [f"{number}.npy", f"{number}_batch", f"{number}.pt"]
    done = subprocess.run(
        [sys.executable, "-c", _READ, *paths],
        cwd=tmp_path, env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-2000:]
    assert done.stdout.splitlines() == [f"refused {path}" for path in paths]
    assert not (tmp_path / "evil").exists()


@pytest.mark.parametrize("protocol", range(6))
@pytest.mark.parametrize("write", [pickle.dumps, old_numpy])
def test_arrays_of_every_protocol_type_and_order(protocol: int, write: Any) -> None:
    for descr in ("|b1", "|i1", "|u1", "<i2", ">i4", "<i8", ">u8", "<f2", ">f8"):
        for order in ("C", "F"):
            array = np.asarray(np.arange(6).reshape(2, 3), descr, order=order)
            found = unpickle(write({"array": array, "part": array[:, 1]}, protocol))
            for key, expected in (("array", array), ("part", array[:, 1])):
                assert isinstance(found[key], PickledArray)
                assert found[key].value.dtype == array.dtype
                assert found[key].value.tolist() == expected.tolist()


@pytest.mark.parametrize("protocol", range(6))
def test_plain_data_of_every_protocol(protocol: int) -> None:
    content = {
        "text": "é\n\\'\"€𝄞", "numbers": [0, 255, 256, -1, 1 << 40, -(1 << 70)], "none": None,
        "both": (True, False), "real": 0.5, "tuple": (1, (2, 3), ()), "empty": [{}, [], ""],
    }  # fmt: skip
    content["again"] = content["numbers"]
    found = unpickle(pickle.dumps({**content, "scalar": np.int16(-7)}, protocol))
    assert found.pop("scalar") == -7
    assert found == content
    assert bytes(unpickle(pickle.dumps(b"\x00\xff\n", protocol))) == b"\x00\xff\n"


def test_text_of_python_2_is_the_bytes_of_an_array() -> None:
    raw = (
        b"(dp0\nS'data'\np1\ncnumpy.core.multiarray\n_reconstruct\n(cnumpy\nndarray\n(I0\ntS'b'\ntR"
        b"(I1\n(I2\ntcnumpy\ndtype\n(S'i2'\nI0\nI1\ntR(I3\nS'>'\nNNNI-1\nI-1\nI0\ntbI00\n"
        b"S'\\x00\\x01\\xff\\xff'\ntbsS'labels'\n(lp3\nI3\naL5L\nas."
    )
    found = unpickle(raw)
    assert found["data"].value.tolist() == [1, -1]
    assert found["labels"] == [3, 5]


HUMAN: dict[str, Any] = {
    "clean_label": np.arange(6), "noisy_label": [0, 1, 2, 2, 4, 5],
    "worse_label": np.array([5, 4, 3, 2, 1, 0], np.int8),
    "random_label1": np.array([5, 4, 3, 2, 1, 0], ">i4"),
}  # fmt: skip


@pytest.mark.parametrize("form", ["pt", "legacy", "npy", "npy 3"])
def test_files_in_the_form_of_the_cifar_n_release(form: str, tmp_path: Path) -> None:
    path = tmp_path / f"CIFAR-10_human.{form.replace('legacy', 'pt').split()[0]}"
    if form == "pt":
        raw = old_numpy(HUMAN)
        assert b"cnumpy.core.multiarray\n_reconstruct" in raw
        assert b"c_codecs\nencode" in raw
        as_pt(raw, path)
    elif form == "legacy":
        torch.save(HUMAN, path, _use_new_zipfile_serialization=False)
    else:
        boxed = np.array(HUMAN, dtype=object)
        path.write_bytes(as_npy(old_numpy(boxed, 3 if form == "npy 3" else 4)))
    for key, expected in HUMAN.items():
        assert read_labels(path, key, count=6).tolist() == list(expected)


@pytest.mark.parametrize("modern", [True, False])
def test_tensors_are_read_without_pytorch(modern: bool, tmp_path: Path) -> None:
    labels = torch.arange(10, dtype=torch.int16)
    content = {"all": labels, "part": labels[1::3], "same": labels[5:]}
    torch.save(content, tmp_path / "a.pt", _use_new_zipfile_serialization=modern)
    for key, expected in content.items():
        assert read_labels(tmp_path / "a.pt", key).tolist() == expected.tolist()
