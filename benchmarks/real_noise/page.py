from pathlib import Path


def write_page() -> list[Path]:
    return []
