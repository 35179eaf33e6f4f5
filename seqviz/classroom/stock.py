"""Fair sharing of limited stocks: rooms of a server, seats of a room and of all rooms."""

from __future__ import annotations

from collections import Counter

RESERVE = 0.1  # share of a stock reserved for addresses that hold no item
RETURNS = 2  # multiple of a stock up to which returning visitors are admitted


def may_take(
    stock: int, held: Counter[str], address: str, n_addresses: int, returns: bool = False
) -> bool:
    """Return True where an address may take one more item of a stock.

    The last tenth is reserved for addresses that hold no item, if the server sees several.
    Returning visitors are not displaced by faster ones, so that more than the stock can be in use.

    Args:
        stock: number of items.
        held: number of items that each address holds.
        address: the requesting address.
        n_addresses: number of addresses that this server sees.
        returns: True where the visitor has proved a former item.
    """
    if returns:
        return held.total() < RETURNS * stock
    left = stock - held.total()
    is_reserved = left <= RESERVE * stock and max(n_addresses, len({*held, address})) > 1
    return left > 0 and not (is_reserved and held[address])
