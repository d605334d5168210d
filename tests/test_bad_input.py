"""Every mistake at a public door, and what the error must say."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest
import torch

from mentornet import (
    FitConfig,
    Mentor,
    MentorFeatures,
    MentorNetError,
    enumerate_features,
    fit_curriculum,
    fit_labels,
    implied_loss,
    make_curriculum,
    make_mentor,
)
from mentornet.mentors import BiLSTMMentor, Lesson, MLPConfig, fit, implicit
from mentornet.mentors.store import FORMAT

NAN, INF = float("nan"), float("inf")
pair = torch.tensor([1.0, 2.0])


def weigh(loss: torch.Tensor, **others: object) -> torch.Tensor:
    return make_mentor("bilstm").weigh(MentorFeatures.from_loss(loss, **others))  # type: ignore[arg-type]


def curriculum_of(loss: torch.Tensor) -> torch.Tensor:
    return make_curriculum("linear")(MentorFeatures.from_loss(loss))


def z(shape_of_difference: tuple[int, ...] = (2, 1), **columns: torch.Tensor) -> MentorFeatures:
    known = {
        "loss": torch.ones(2, 1),
        "difference": torch.ones(*shape_of_difference),
        "label": torch.zeros(2, dtype=torch.long),
        "progress": torch.zeros(2, dtype=torch.long),
    }
    return MentorFeatures(**(known | columns))


CALLS: dict[str, tuple[Callable[[], object], str]] = {
    "negative loss": (lambda: weigh(torch.tensor([0.5, -0.25])), "must be ≥ 0, got -0.25 for sample 1"),
    "NaN loss": (lambda: weigh(torch.tensor([NAN, 1.0])), "loss must be finite, got nan for sample 0"),
    "infinite loss": (lambda: weigh(torch.tensor([1.0, INF])), "loss must be finite, got inf"),
    "NaN loss level": (lambda: weigh(pair, loss_level=NAN), "difference must be finite, got nan"),
    "negative loss, curriculum": (lambda: curriculum_of(-pair), "must be ≥ 0, got -1 for sample 0"),
    "NaN loss, curriculum": (lambda: curriculum_of(pair * NAN), "loss must be finite, got nan"),
    "progress 100": (lambda: weigh(pair, progress=100), "progress must be in 0–99, got 100"),
    "progress -1": (lambda: weigh(pair, progress=-1), "progress must be in 0–99, got -1"),
    "label 10 of 10": (lambda: weigh(pair, label=10), "label must be in 0–9, got 10"),
    "label -1": (lambda: weigh(pair, label=-1), "label must be in 0–9, got -1"),
    "a list of losses": (lambda: weigh([1.0, 2.0]), "loss must be a tensor, got list"),  # type: ignore[arg-type]
    "losses in place of features": (lambda: make_mentor("mlp").weigh(pair), "a mentor reads MentorFeatures, got Tensor"),  # type: ignore[arg-type]
    "seed -1": (lambda: make_mentor("mlp", seed=-1), "seed must be in 0 … 2⁶³ − 1, got -1"),
    "seed too large": (lambda: make_mentor("mlp", seed=2**70), "seed must be in 0"),
    "0-d loss": (lambda: weigh(torch.tensor(1.0)), "loss must have shape (B,) or (B, T), got ()"),
    "3-d loss": (lambda: weigh(torch.ones(2, 2, 2)), "got (2, 2, 2)"),
    "1-d loss, directly": (lambda: z(loss=pair), "loss must have shape (B, T), got (2,)"),
    "no history": (lambda: z((2, 0), loss=torch.ones(2, 0)), "at least one step"),
    "difference of another shape": (lambda: z((2, 2)), "shape of loss (2, 1), got (2, 2)"),
    "label of another shape": (lambda: z(label=torch.zeros(3).long()), "label must have shape (B,)"),
    "label of floats": (lambda: z(label=pair), "label must be of an integer dtype"),
    "progress of floats": (lambda: weigh(pair, progress=0.5), "progress must be of an integer dtype"),
    "loss level of another shape": (lambda: weigh(pair, loss_level=torch.ones(3)), "loss_level must be a scalar or have the shape of loss (2, 1), got (3, 1)"),
    "label of booleans": (lambda: z(label=torch.tensor([True, False])), "label must be of an integer dtype"),
    "burn-in without draws": (lambda: make_mentor("mlp")(z(), burn_in=True), "burn_in and drop_rate need draws"),
    "dropping without draws": (lambda: make_mentor("mlp")(z(), drop_rate=0.5), "burn_in and drop_rate need draws"),
    "draws of another shape": (lambda: make_mentor("mlp")(z(), torch.ones(2, 1)), "draws must have the shape of the weights (2,), got (2, 1)"),
    "drop rate 40": (lambda: make_mentor("mlp")(z(), pair, drop_rate=40), "drop_rate must be in [0, 1], got 40"),
    "implied loss of a negative one": (lambda: make_curriculum("linear").implied_loss(MentorFeatures.from_loss(-pair)), "must be ≥ 0"),
    "implied loss without history": (lambda: make_curriculum("prediction-variance").implied_loss(MentorFeatures.from_loss(pair)), "at least 2 steps"),
    "implied loss at no point": (lambda: implied_loss(make_curriculum("focal").weight, z(), points=0), "points must be ≥ 1, got 0"),
    "no samples to enumerate": (lambda: enumerate_features(0), "count must be ≥ 1, got 0"),
    "no history to enumerate": (lambda: enumerate_features(9, history=0), "history must be ≥ 1, got 0"),
    "objective misspelt": (lambda: fit_curriculum(make_mentor("mlp"), make_curriculum("pd"), z(), objective="implcit"), "unknown objective 'implcit'; did you mean 'implicit'?"),  # type: ignore[arg-type]
    "fit on NaN": (lambda: fit_labels(make_mentor("mlp"), MentorFeatures.from_loss(torch.tensor([1.0, 2.0, NAN, 4.0, 5.0])), torch.arange(5) < 3), "loss must be finite, got nan"),
    "fit on nothing": (lambda: fit(make_mentor("mlp"), Lesson(z().rows(slice(0)), pair[:0]), implicit, error=implicit), "no samples to learn from"),
    "fit to a column": (lambda: fit(make_mentor("mlp"), Lesson(z(), pair[:, None]), implicit, error=implicit), "targets must be weights in [0, 1] of shape (2,), got shape (2, 1)"),
    "fit to more than 1": (lambda: fit(make_mentor("mlp"), Lesson(z(), pair), implicit, error=implicit), "targets must be weights in [0, 1]"),
    "integer loss": (lambda: weigh(torch.tensor([1, 2])), "floating point"),
    "dtypes mixed": (lambda: z(loss=torch.ones(2, 1).double()), "of one floating point dtype"),
    "lambda1 < 0": (lambda: make_curriculum("linear", lambda1=-1), "lambda1 must be ≥ 0 and finite, got -1"),
    "lambda2 < 0": (lambda: make_curriculum("pd", lambda2=-0.5), "lambda2 must be ≥ 0 and finite, got -0.5"),
    "lambda NaN": (lambda: make_curriculum("self-paced", lambda1=NAN), "lambda1 must be ≥ 0 and finite, got nan"),
    "lambda infinite": (lambda: make_curriculum("self-paced", lambda1=INF), "finite, got inf"),
    "lambda1 = 0, Huber": (lambda: make_curriculum("huber", lambda1=0), "lambda1 must be > 0, got 0"),
    "gamma < 0": (lambda: make_curriculum("focal", gamma=-2), "gamma must be ≥ 0"),
    "epsilon = 0": (lambda: make_curriculum("log-sum", epsilon=0), "epsilon must be > 0, got 0"),
    "weight above 1, log-sum": (lambda: make_curriculum("log-sum", epsilon=0.5), "lambda1 must be ≤ epsilon"),
    "weight above 1, Lorentzian": (lambda: make_curriculum("lorentzian", delta=0.5), "delta must be ≥ 1/√2"),
    "switch": (lambda: make_curriculum("temporal-mixture", switch=101), "switch must be in 0–100"),
    "variance without history": (
        lambda: make_curriculum("prediction-variance")(MentorFeatures.from_loss(pair)),
        "needs a history of at least 2 steps, got T = 1",
    ),
    "unknown curriculum": (lambda: make_curriculum("linaer"), "unknown curriculum 'linaer'; did you mean 'linear'?"),
    "relative of 2": (lambda: make_curriculum("linear", relative=2), "relative must be true or false, got 2"),
    "lambda1 of text": (lambda: make_curriculum("linear", lambda1="a"), "lambda1 must be a number, got 'a'"),  # type: ignore[arg-type]
    "switch of 50.5": (lambda: make_curriculum("temporal-mixture", switch=50.5), "switch must be a whole number, got 50.5"),
    "unknown setting": (lambda: make_curriculum("linear", lambda3=1), "no setting 'lambda3'; did you mean 'lambda"),
    "unknown architecture": (lambda: make_mentor("bi-lstm"), "unknown architecture 'bi-lstm'; did you mean 'bilstm'?"),
    "unknown size": (lambda: make_mentor("bilstm", hiden=3), "no size 'hiden'; did you mean 'hidden'?"),
    "no classes": (lambda: make_mentor("bilstm", num_classes=0), "num_classes must be a whole number ≥ 1, got 0"),
    "half a unit": (lambda: make_mentor("bilstm", units=0.5), "units must be a whole number ≥ 1, got 0.5"),
    "use_label of 2": (lambda: make_mentor("bilstm", use_label=2), "use_label must be true or false, got 2"),
    "config of another": (lambda: BiLSTMMentor(MLPConfig()), "bilstm takes a BiLSTMConfig, got MLPConfig"),
    "no steps": (lambda: FitConfig(steps=0), "steps must be ≥ 1, got 0"),
    "patience 0": (lambda: FitConfig(patience=0), "patience must be ≥ 1 or None, got 0"),
    "learning rate 0": (lambda: FitConfig(learning_rate=0), "learning_rate must be > 0, got 0"),
}  # fmt: skip


@pytest.mark.parametrize("name", CALLS)
def test_mistake(name: str) -> None:
    call, message = CALLS[name]
    with pytest.raises(MentorNetError, match=re.escape(message)):
        call()


def _edit(folder: Path, **changes: object) -> None:
    path = folder / "config.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | changes))


def _drop(folder: Path, key: str) -> None:
    path = folder / "config.json"
    config = json.loads(path.read_text())
    del config[key]
    path.write_text(json.dumps(config))


def _replace_by_folder(path: Path) -> None:
    path.unlink()
    path.mkdir()


def _poison(folder: Path) -> None:
    mentor = make_mentor("bilstm")
    torch.nn.init.constant_(next(mentor.parameters()), NAN)
    mentor.save_pretrained(folder)


def _truncate(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-100])


FOLDERS: dict[str, tuple[Callable[[Path], object], str]] = {
    "no config": (lambda f: (f / "config.json").unlink(), "config.json is missing"),
    "no weights": (lambda f: (f / "model.safetensors").unlink(), "model.safetensors is missing"),
    "weights cut short": (lambda f: _truncate(f / "model.safetensors"), "was it cut short?"),
    "weights empty": (lambda f: (f / "model.safetensors").write_bytes(b""), "was it cut short?"),
    "config cut short": (lambda f: (f / "config.json").write_text('{"for'), "is not JSON"),
    "config a list": (lambda f: (f / "config.json").write_text("[]"), "must hold a JSON object"),
    "not a mentor": (lambda f: (f / "config.json").write_text("{}"), "has no format number"),
    "newer version": (
        lambda f: _edit(f, format=FORMAT + 1, mentornet_version="9.9"),
        "was written by mentornet 9.9 in format 2; mentornet 0.1.0 reads formats up to 1: upgrade",
    ),
    "another architecture": (lambda f: _edit(f, architecture="transformer"), "'transformer'"),
    "other weights": (lambda f: _edit(f, architecture="logistic"), "has no size"),
    "other sizes": (lambda f: _edit(f, hidden=7), "do not belong together"),
    "a size missing": (lambda f: _drop(f, "history"), "there is no 'history'"),
    "format true": (lambda f: _edit(f, format=True), "has no format number"),
    "config a folder": (lambda f: _replace_by_folder(f / "config.json"), "cannot be read"),
    "weights of NaN": (_poison, "must hold finite numbers"),
    "size of text": (lambda f: _edit(f, hidden="20"), "hidden must be a whole number"),
}


@pytest.mark.parametrize("name", FOLDERS)
def test_mistake_in_a_mentors_folder(name: str, tmp_path: Path) -> None:
    damage, message = FOLDERS[name]
    make_mentor("bilstm").save_pretrained(tmp_path)
    damage(tmp_path)
    with pytest.raises(MentorNetError, match=re.escape(message)):
        Mentor.from_pretrained(tmp_path)


def test_weights_of_another_architecture_without_their_config(tmp_path: Path) -> None:
    from safetensors.torch import save_file

    make_mentor("bilstm").save_pretrained(tmp_path)
    save_file(make_mentor("mlp").state_dict(), tmp_path / "model.safetensors")
    with pytest.raises(MentorNetError, match="does not hold a 'bilstm' mentor"):
        Mentor.from_pretrained(tmp_path)


def test_missing_folder_offers_what_ships() -> None:
    with pytest.raises(MentorNetError, match=r"no mentor 'focl'.*did you mean 'focal'"):
        Mentor.from_pretrained("focl")


def test_a_mentor_of_another_architecture_than_asked_for(tmp_path: Path) -> None:
    make_mentor("mlp").save_pretrained(tmp_path)
    with pytest.raises(MentorNetError, match="is a 'mlp' mentor, not a 'bilstm'"):
        BiLSTMMentor.from_pretrained(tmp_path)
