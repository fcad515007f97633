"""A sample of the matrix generator: the part that says what an agentic point may keep in host memory."""

# 3 TB in MiB. No run may plan with more, however much a host has.
MAX_AGENTIC_AVAILABLE_CPU_DRAM_MIB = 2_861_022


def budget_gb(available_mib: int, utilization: float, gpus: int, gpus_per_node: int) -> int:
    """The share of host memory of a point with `gpus` GPUs, in decimal GB."""
    usable = min(available_mib, MAX_AGENTIC_AVAILABLE_CPU_DRAM_MIB) * 2**20
    return int(usable * utilization * gpus / gpus_per_node / 10**9)
