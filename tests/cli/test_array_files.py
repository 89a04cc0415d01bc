"""Arrays in files: the right file for the right input, damaged and hostile files refused, outputs whole."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from cuvil_edge.cli._array_files import check_output_place, load, read_inputs, write_outputs
from cuvil_edge.errors import InputError, UsageError

ROW = np.arange(3, dtype=np.float32)


def saved(path: Path, array: np.ndarray = ROW) -> Path:
    np.save(path, array)
    return path


def test_named_file(tmp_path):
    arrays = read_inputs([f"image={saved(tmp_path / 'a.npy')}"], ("image", "scale"))
    assert list(arrays) == ["image"]
    np.testing.assert_array_equal(arrays["image"], ROW)


def test_file_alone_for_a_model_with_one_input(tmp_path):
    assert list(read_inputs([str(saved(tmp_path / "a.npy"))], ("image",))) == ["image"]


def test_file_alone_for_a_model_with_two_inputs_is_ambiguous(tmp_path):
    with pytest.raises(UsageError, match="which input"):
        read_inputs([str(saved(tmp_path / "a.npy"))], ("image", "scale"))


def test_archive_holds_all_inputs(tmp_path):
    np.savez(tmp_path / "all.npz", image=ROW, scale=2 * ROW)
    arrays = read_inputs([str(tmp_path / "all.npz")], ("image", "scale"))
    np.testing.assert_array_equal(arrays["scale"], 2 * ROW)


def test_one_array_of_an_archive(tmp_path):
    np.savez(tmp_path / "all.npz", image=ROW, other=2 * ROW)
    assert list(read_inputs([f"image={tmp_path / 'all.npz'}"], ("image",))) == ["image"]
    with pytest.raises(InputError, match="no such array"):
        read_inputs([f"scale={tmp_path / 'all.npz'}"], ("scale",))


def test_input_name_with_an_equals_sign(tmp_path):
    assert list(read_inputs([f"a=b={saved(tmp_path / 'a.npy')}"], ("a=b",))) == ["a=b"]


def test_file_name_with_an_equals_sign(tmp_path):
    assert list(read_inputs([str(saved(tmp_path / "n=1.npy"))], ("image",))) == ["image"]


def test_unknown_input_names_the_nearest(tmp_path):
    with pytest.raises(InputError) as error:
        read_inputs([f"imgae={saved(tmp_path / 'a.npy')}"], ("image",))
    assert 'did you mean "image"?' in str(error.value)


def test_input_given_twice(tmp_path):
    file = saved(tmp_path / "a.npy")
    with pytest.raises(UsageError, match="twice"):
        read_inputs([f"image={file}", f"image={file}"], ("image",))


@pytest.mark.parametrize(
    "content", [b"", b"not an array", b"PK\x03\x04 broken zip", b"\x93NUMPY\x01\x00v\x00{'descr'", b"\x93NUMPY"]
)
def test_file_that_is_none(tmp_path, content):
    path = tmp_path / "a.npy"
    path.write_bytes(content)
    with pytest.raises(InputError):
        load(path)


@pytest.mark.parametrize("cut", [10, 60, 127, 130])
def test_file_cut_short(tmp_path, cut):
    path = saved(tmp_path / "a.npy")
    path.write_bytes(path.read_bytes()[:cut])
    with pytest.raises(InputError):
        load(path)


def test_archive_cut_short(tmp_path):
    np.savez(tmp_path / "a.npz", image=ROW)
    whole = (tmp_path / "a.npz").read_bytes()
    (tmp_path / "a.npz").write_bytes(whole[: len(whole) // 2])
    with pytest.raises(InputError):
        load(tmp_path / "a.npz")


def test_missing_file_and_folder(tmp_path):
    for path in (tmp_path / "none.npy", tmp_path):
        with pytest.raises(InputError, match="cannot read"):
            load(path)


class Bomb:
    """Would run code when unpickled."""

    def __reduce__(self):
        return (Path("/nonexistent/cuvil-bomb").touch, ())


def test_python_objects_are_never_loaded(tmp_path):
    np.save(tmp_path / "a.npy", np.array([Bomb()], dtype=object), allow_pickle=True)
    with pytest.raises(InputError):
        load(tmp_path / "a.npy")


def test_text_is_no_tensor(tmp_path):
    with pytest.raises(InputError, match="numbers"):
        load(saved(tmp_path / "a.npy", np.array(["a"])))


def test_outputs_as_files_of_a_new_folder(tmp_path):
    files = write_outputs({"logits": ROW}, tmp_path / "new" / "out")
    assert files == {"logits": tmp_path / "new" / "out" / "logits.npy"}
    np.testing.assert_array_equal(np.load(files["logits"]), ROW)
    assert [p.name for p in files["logits"].parent.iterdir()] == ["logits.npy"]


def test_output_names_cannot_leave_the_folder(tmp_path):
    names = ["../../evil", "/etc/passwd", "..", "a/b", "a:b", "", "\x00"]
    files = write_outputs(dict.fromkeys(names, ROW), tmp_path / "out")
    assert len(set(files.values())) == len(names)
    for file in files.values():
        assert file.resolve().parent == (tmp_path / "out").resolve()


def test_outputs_as_one_archive(tmp_path):
    """Also for names that numpy.savez takes for its own arguments."""
    write_outputs({"file": ROW, "a/b": 2 * ROW}, tmp_path / "out.npz")
    loaded = np.load(tmp_path / "out.npz")
    np.testing.assert_array_equal(loaded["file"], ROW)
    np.testing.assert_array_equal(loaded["a/b"], 2 * ROW)


def test_failed_write_leaves_the_old_file(tmp_path, monkeypatch):
    files = write_outputs({"y": ROW}, tmp_path)

    def broken(self: Path, target: Path) -> Path:
        raise OSError(28, "No space left on device", str(target))

    monkeypatch.setattr(Path, "replace", broken)
    with pytest.raises(OSError, match="No space"):
        write_outputs({"y": 2 * ROW}, tmp_path)
    np.testing.assert_array_equal(np.load(files["y"]), ROW)
    assert [p.name for p in tmp_path.iterdir()] == ["y.npy"]


def test_place_of_outputs_is_checked_before_the_work(tmp_path):
    (tmp_path / "file").write_text("x")
    (tmp_path / "folder.npz").mkdir()
    for place in (tmp_path / "file", tmp_path / "folder.npz"):
        with pytest.raises(UsageError, match="this is a"):
            check_output_place(place)
    for place in (None, tmp_path, tmp_path / "new", tmp_path / "new.npz"):
        check_output_place(place)
