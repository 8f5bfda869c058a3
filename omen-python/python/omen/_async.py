"""Asynchronous iteration over findings."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from omen import Finding, Findings


async def following(findings: Findings) -> Finding:
    """Returns the next finding. A thread waits only briefly, so that a cancelled task loses no finding and leaves no thread behind."""
    while (finding := findings._poll()) is None:
        await asyncio.to_thread(findings._wait)
    return finding
