"""Hardware facts from both forms of the runners file."""

from __future__ import annotations

import pytest

from benchscribe.schema.errors import StateError
from benchscribe.schema.runners import Hardware, Runners, UnknownRunner
from benchscribe.schema.yaml_text import YamlTextError

ROOT_FORM = """\
labels:
  mi355x:
    - mi355x-amds_00
  "cluster:mi355x-amds":
    - mi355x-amds_00
# what the nodes have
hardware:
  # measured, not promised
  cluster:mi355x-amds:
    available-cpu-dram-mib: 3_095_781
    gpus-per-node: 8
  b200-nscale:
    gpus-per-node: 8
  "cluster:gb300-nv": { available-cpu-dram-mib: 860_160, gpus-per-node: 4 }
"""
E2E_FORM = """\
labels:
  cluster:mi355x-amds: [mi355x-amds_00]
clusters:
  b200-cw:
    gpus-per-node: 8
    scheduler: slurm
  mi355x-amds:
    gpus-per-node: 8
    available-cpu-dram-mib: 3_095_781
    env:
      MORI_RDMA_TC: "104"
    slurm:
      gres: "gpu:{gpus}"
"""


def facts(hardware: Hardware) -> tuple[str, int | None, int, int]:
    return hardware.id, hardware.dram_mib, hardware.gpus_per_node, hardware.place.line


def test_root_form_is_read_by_label_with_the_line_it_stands_at() -> None:
    runners = Runners(ROOT_FORM)
    assert runners.form == "hardware"
    assert facts(runners.hardware("cluster:mi355x-amds")) == ("cluster:mi355x-amds", 3_095_781, 8, 9)
    assert facts(runners.hardware("cluster:gb300-nv")) == ("cluster:gb300-nv", 860_160, 4, 14)
    assert runners.known == ("cluster:mi355x-amds", "b200-nscale", "cluster:gb300-nv")
    assert runners.labels == ("mi355x", "cluster:mi355x-amds")


def test_e2e_form_is_read_by_id_behind_the_label() -> None:
    runners = Runners(E2E_FORM)
    assert runners.form == "clusters"
    assert facts(runners.hardware("cluster:mi355x-amds")) == ("mi355x-amds", 3_095_781, 8, 7)
    assert runners.known == ("cluster:b200-cw", "cluster:mi355x-amds")


def test_missing_dram_is_said_with_the_place() -> None:
    hardware = Runners(E2E_FORM, "inferencex-e2e/configs/runners.yaml").hardware("cluster:b200-cw")
    assert hardware.dram_mib is None
    with pytest.raises(StateError) as error:
        hardware.require_dram()
    assert "b200-cw states no available-cpu-dram-mib" in error.value.what
    assert str(error.value.where) == "inferencex-e2e/configs/runners.yaml:4"


@pytest.mark.parametrize(
    ("label", "near"),
    [
        ("cluster:mi355-amds", "cluster:mi355x-amds"),
        ("mi355x-amds", "cluster:mi355x-amds"),
        ("mi355x", "cluster:mi355x-amds"),
        ("cluster:tpu-v7", ""),
    ],
)
def test_an_unknown_label_names_what_there_is_and_the_near_miss(label: str, near: str) -> None:
    with pytest.raises(UnknownRunner) as error:
        Runners(ROOT_FORM).hardware(label)
    assert error.value.near == near
    assert error.value.exit_code == 3
    assert "available: cluster:mi355x-amds, b200-nscale, cluster:gb300-nv" in str(error.value)
    assert (f"did you mean {near}?" in str(error.value)) == bool(near)


def test_a_flow_section_is_read_too() -> None:
    text = "labels: {}\nhardware: {'cluster:x-y': {gpus-per-node: 4, available-cpu-dram-mib: 10},\n  z: 3}\n"
    runners = Runners(text)
    hardware = runners.hardware("cluster:x-y")
    assert (hardware.dram_mib, hardware.gpus_per_node) == (10, 4)
    with pytest.raises(StateError, match="z is not a mapping"):
        runners.hardware("z")


@pytest.mark.parametrize("text", ["", "labels:\n  a: [b]\n", "hardware:\n", "hardware: null\n", "- a\n"])
def test_without_facts_nothing_is_known(text: str) -> None:
    runners = Runners(text)
    assert runners.known == ()
    with pytest.raises(UnknownRunner, match="available: none"):
        runners.hardware("cluster:mi355x-amds")


def test_gpus_per_node_must_be_a_whole_number() -> None:
    with pytest.raises(StateError, match="a states no whole number of gpus-per-node") as error:
        Runners("hardware:\n  a:\n    gpus-per-node: eight\n").hardware("a")
    assert str(error.value.where) == "configs/runners.yaml:2"


def test_broken_yaml_is_named_with_the_line_of_the_file() -> None:
    runners = Runners("labels:\nhardware:\n  a:\n    gpus-per-node: 8\n  b:\n    gpus-per-node: [8\n")
    assert runners.hardware("a").gpus_per_node == 8
    with pytest.raises(YamlTextError) as error:
        runners.hardware("b")
    assert error.value.where is not None
    assert error.value.where.line >= 6


def test_real_files(shared) -> None:  # type: ignore[no-untyped-def]
    root = Runners((shared / "upstream/root/configs/runners.yaml").read_text())
    assert len(root.known) == 16
    assert facts(root.hardware("cluster:b300-nv"))[1:3] == (2_964_436, 8)
    assert facts(root.hardware("b200-nscale"))[:3] == ("b200-nscale", 2_063_920, 8)
    assert facts(root.hardware("cluster:h200-dgxc"))[1] == 1_471_356
    e2e = Runners((shared / "upstream/e2e/inferencex-e2e/configs/runners.yaml").read_text())
    assert e2e.known == ("cluster:b200-nscale", "cluster:b200-cw", "cluster:gb300-nv", "cluster:mi355x-amds")
    assert e2e.hardware("cluster:b200-cw").dram_mib is None
