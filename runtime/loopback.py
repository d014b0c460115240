"""Whether an address is of this machine alone: for the command line too, which loads no web server."""

import functools
import ipaddress


@functools.lru_cache(maxsize=4096)
def is_loopback(address: str) -> bool:
    try:
        parsed = ipaddress.ip_address(address.partition("%")[0])
    except ValueError:
        return False
    mapped = parsed.ipv4_mapped if isinstance(parsed, ipaddress.IPv6Address) else None
    return (mapped or parsed).is_loopback
