"""How what is scarce is shared: rooms of a server, seats of a room and of all rooms."""

from __future__ import annotations

from collections import Counter

RESERVE = 0.1  # of a stock is for addresses that hold nothing of it
RETURNS = 2  # times a stock may be used where who comes back proves to have had its part of it


def may_take(
    stock: int, held: Counter[str], address: str, n_addresses: int, returns: bool = False
) -> bool:
    """Return whether an address may take one more of a stock.

    The last tenth is for addresses that hold nothing of it, where the server sees several. Nobody
    who was faster keeps out who comes back, so more than the stock may be in use.

    Args:
        stock: how many there are.
        held: how many each address holds.
        address: who asks.
        n_addresses: how many addresses this server sees.
        returns: whether who asks proves to have had one.
    """
    if returns:
        return held.total() < RETURNS * stock
    left = stock - held.total()
    is_reserved = left <= RESERVE * stock and max(n_addresses, len({*held, address})) > 1
    return left > 0 and not (is_reserved and held[address])
