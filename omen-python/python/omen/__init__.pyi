"""The OMEN protocol for AI agents, on a core in Rust."""

from omen._core import Cause as Cause
from omen._core import Finding as Finding
from omen._core import Findings as Findings
from omen._core import Summary as Summary
from omen._core import Validator as Validator
from omen._core import check as check
from omen._core import check_text as check_text
from omen._core import version as version
from omen._errors import ArgumentError as ArgumentError
from omen._errors import InputError as InputError
from omen._errors import OmenError as OmenError
from omen._errors import PacketError as PacketError
from omen._errors import Problem as Problem
from omen._errors import UsageError as UsageError
from omen.gate import Gate as Gate
from omen.gate import GateError as GateError
from omen.gate import Refused as Refused
from omen.gate import ToolFailed as ToolFailed

__version__: str
