"""Whether the device slows itself down, now or some time since it was started."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import ClassVar

from cuvil_edge.remote.facts._base import Fact

# Raspberry Pi documentation, "vcgencmd get_throttled": bits of now; the same 16 higher are since boot.
_BITS = {0: "undervoltage", 1: "frequency_capped", 2: "throttled", 3: "soft_temperature_limit"}
_SINCE_BOOT = 16
_VALUE = re.compile(r"(?:throttled=)?(0x[0-9a-fA-F]+|[0-9a-fA-F]+)\s*$")
_COOLING = (
    "cd /sys/class/thermal || exit 1; for d in cooling_device*; do "
    '[ -r "$d/cur_state" ] && echo "$(cat "$d/cur_state") $(cat "$d/type")"; done'
)
_ALARMS = 'for f in /sys/class/hwmon/hwmon*/in0_lcrit_alarm; do [ -r "$f" ] && cat "$f"; done'
_OVERCURRENT = 'for f in /sys/class/hwmon/hwmon*/oc*_event_cnt; do [ -r "$f" ] && cat "$f"; done'


class Throttling(Fact):
    """``{"now": ["undervoltage"], "since_boot": ["throttled", "undervoltage"]}``; empty lists are good news.

    Words: undervoltage, frequency_capped, throttled, soft_temperature_limit, overcurrent.
    """

    commands: ClassVar = {
        "vcgencmd": ("vcgencmd", "get_throttled"),
        "firmware": ("cat", "/sys/devices/platform/soc/soc:firmware/get_throttled"),
        "alarms": ("sh", "-c", _ALARMS),
        "cooling": ("sh", "-c", _COOLING),
        "overcurrent": ("sh", "-c", _OVERCURRENT),
    }

    def parse(self, outputs: Mapping[str, str]) -> dict[str, list[str]] | None:
        """Both lists, None where the device has no way to tell."""
        now: set[str] = set()
        since_boot: set[str] = set()
        known = False
        for key in ("vcgencmd", "firmware"):
            if match := _VALUE.fullmatch(outputs[key].strip()):
                known = True
                bits = int(match[1], 16)
                now |= {name for bit, name in _BITS.items() if bits >> bit & 1}
                since_boot |= {name for bit, name in _BITS.items() if bits >> (bit + _SINCE_BOOT) & 1}
                break
        alarms = outputs["alarms"].split()
        cooling = [line.split(" ", 1) for line in outputs["cooling"].splitlines() if " " in line]
        # Fans and other coolers are no reason for doubt; a CPU that is cooled by its clock is.
        clocks = [state for state, kind in cooling if "cpu" in kind.lower() and state.isdigit()]
        events = [count for count in outputs["overcurrent"].split() if count.isdigit()]
        now |= {"undervoltage"} if "1" in alarms else set()
        now |= {"frequency_capped"} if any(int(state) > 0 for state in clocks) else set()
        since_boot |= {"overcurrent"} if any(int(count) > 0 for count in events) else set()
        if not (known or alarms or clocks or events):
            return None
        return {"now": sorted(now), "since_boot": sorted(since_boot)}
