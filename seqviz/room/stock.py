"""How what is scarce is shared: rooms of a server, seats of a room and of all rooms."""

from __future__ import annotations

from collections import Counter

RESERVE = 0.1  # of a stock is for addresses that hold nothing of it


def may_take(stock: int, held: Counter[str], address: str, n_addresses: int) -> bool:
    """Return whether an address may take one more of a stock.

    The last tenth is for addresses that hold nothing of it, where the server sees several.

    Args:
        stock: how many there are.
        held: how many each address holds.
        address: who asks.
        n_addresses: how many addresses this server sees.
    """
    left = stock - held.total()
    is_reserved = left <= RESERVE * stock and max(n_addresses, len({*held, address})) > 1
    return left > 0 and not (is_reserved and held[address])
