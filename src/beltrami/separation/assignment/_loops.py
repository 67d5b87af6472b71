"""Compiled loops of the exact assignment under bounds on the sizes of clusters.

The transportation problem with n points and k clusters is solved on k + 1 nodes: the clusters and
a sink, number k, that enforces the bounds. The edge g -> h is the member of g that is cheapest to
move, of length cost[i, h] - cost[i, g]; the edges to and from the sink are room above and below.
Flow goes along shortest paths from clusters with too many points to clusters with too few.

The cheapest members of each pair lie in a pool, a heap that holds all members whose key is below
the pool's limit and is refilled when it runs dry. Few clusters give many points, and only their
pools grow. The twin is `assign_reference`, a linear program.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from beltrami.core.machine.compiled import njit, prange

_UNKNOWN = -2
_LEAST_ROOM, _FIRST_ROOM = 16, 128


class _Parts(NamedTuple):
    """Who is where: labels, and the members of each cluster as doubly linked lists."""

    costs: NDArray[np.float64]
    labels: NDArray[np.int32]
    after: NDArray[np.int32]
    before: NDArray[np.int32]
    heads: NDArray[np.int32]  # one per cluster
    sizes: NDArray[np.int64]


class _Pools(NamedTuple):
    """One heap per ordered pair (g, h): members of g by what their move to h costs.

    Points that have left g stay until they come to the top. Every member with a key below the
    limit is in the pool; the limit is -inf before the first filling. Each filling of a pool takes
    twice as many members as the last, while the array in which all pools lie has room.
    """

    keys: NDArray[np.float64]
    items: NDArray[np.int32]
    used: NDArray[np.int64]  # how many entries of the two have an owner
    starts: NDArray[np.int64]  # (k, k), as all that follow
    rooms: NDArray[np.int64]
    counts: NDArray[np.int64]
    limits: NDArray[np.float64]
    least: NDArray[np.float64]  # key of the cheapest member, inf where there is none
    who: NDArray[np.int32]  # that member; _UNKNOWN where it has to be looked up


class _Net(NamedTuple):
    """Flows into the sink and their bounds; prices and surplus of the clusters and the sink."""

    lower: NDArray[np.int64]
    upper: NDArray[np.int64]
    flow: NDArray[np.int64]
    price: NDArray[np.float64]  # (k + 1,)
    surplus: NDArray[np.int64]


class _Search(NamedTuple):
    """The tree of shortest paths, one element per node."""

    length: NDArray[np.float64]
    done: NDArray[np.int64]  # 0 or 1
    parent: NDArray[np.int64]
    via: NDArray[np.int64]  # the point that moves along the edge from the parent


@njit(cache=True)
def _sift_up(keys, items, j):
    key, item = keys[j], items[j]
    while j > 0:
        above = (j - 1) >> 1
        if keys[above] <= key:
            break
        keys[j], items[j] = keys[above], items[above]
        j = above
    keys[j], items[j] = key, item


@njit(cache=True)
def _sift_down(keys, items, count, j):
    key, item = keys[j], items[j]
    while True:
        child = 2 * j + 1
        if child >= count:
            break
        if child + 1 < count and keys[child + 1] < keys[child]:
            child += 1
        if key <= keys[child]:
            break
        keys[j], items[j] = keys[child], items[child]
        j = child
    keys[j], items[j] = key, item


@njit(cache=True)
def _link(parts, i, g):
    """Make point i the first member of cluster g."""
    first = parts.heads[g]
    parts.after[i], parts.before[i] = first, -1
    if first >= 0:
        parts.before[first] = i
    parts.heads[g] = i
    parts.labels[i] = g
    parts.sizes[g] += 1


@njit(cache=True)
def _pool(pools, g, h):
    span = slice(pools.starts[g, h], pools.starts[g, h] + pools.rooms[g, h])
    return pools.keys[span], pools.items[span]


@njit(cache=True)
def _grow(pools, g, h, room):
    """Give an empty pool a place with more room, where there is one."""
    if room > pools.rooms[g, h] and pools.used[0] + room <= pools.keys.size:
        pools.starts[g, h], pools.rooms[g, h] = pools.used[0], room
        pools.used[0] += room


@njit(cache=True)
def _fill(parts, pools, g, start, stop):
    """Fill the pools from g to the clusters start, ..., stop - 1, to one half, with the cheapest.

    While members are read, keys are negated: the dearest of those kept is on top.
    """
    costs, counts = parts.costs, pools.counts
    for h in range(start, stop):
        first = pools.limits[g, h] == -np.inf
        _grow(pools, g, h, _FIRST_ROOM if first else 2 * pools.rooms[g, h])
        counts[g, h] = 0
    i = parts.heads[g]
    while i >= 0:
        own = costs[i, g]
        for h in range(start, stop):
            key, count = own - costs[i, h], counts[g, h]
            is_full = count == pools.rooms[g, h] // 2
            if h == g or (is_full and key <= pools.keys[pools.starts[g, h]]):
                continue
            keys, items = _pool(pools, g, h)
            if is_full:
                keys[0], items[0] = key, i
                _sift_down(keys, items, count, 0)
            else:
                keys[count], items[count] = key, i
                _sift_up(keys, items, count)
                counts[g, h] = count + 1
        i = parts.after[i]
    for h in range(start, stop):
        if h == g:
            continue
        keys, items = _pool(pools, g, h)
        count = counts[g, h]
        pools.limits[g, h] = np.inf if parts.sizes[g] <= count else -keys[0]
        for j in range(count):
            keys[j] = -keys[j]
        for j in range(count // 2 - 1, -1, -1):
            _sift_down(keys, items, count, j)
        pools.least[g, h], pools.who[g, h] = keys[0], items[0]


@njit(cache=True)
def _enter(parts, pools, i, g):
    """Put a new member of g into the pools that have to know it."""
    own = parts.costs[i, g]
    for h in range(parts.sizes.size):
        key = parts.costs[i, h] - own
        if h == g or key >= pools.limits[g, h]:
            continue  # the pool knows nothing beyond its limit
        if pools.counts[g, h] == pools.rooms[g, h]:
            _fill(parts, pools, g, h, h + 1)  # of all members, i among them
            continue
        keys, items = _pool(pools, g, h)
        count = pools.counts[g, h]
        keys[count], items[count] = key, i
        _sift_up(keys, items, count)
        pools.counts[g, h] = count + 1
        if key < pools.least[g, h]:
            pools.least[g, h], pools.who[g, h] = key, i


@njit(cache=True)
def _leave(parts, pools, i):
    """Take point i out of its cluster; the pools notice when it comes to their top."""
    g, before, after = parts.labels[i], parts.before[i], parts.after[i]
    if before >= 0:
        parts.after[before] = after
    else:
        parts.heads[g] = after
    if after >= 0:
        parts.before[after] = before
    parts.sizes[g] -= 1
    for h in range(parts.sizes.size):
        if pools.who[g, h] == i:
            pools.who[g, h] = _UNKNOWN


@njit(cache=True)
def _look_up(parts, pools, g, h):
    """Find the member of g that is cheapest to move to h."""
    keys, items = _pool(pools, g, h)
    count = pools.counts[g, h]
    while count > 0:
        if parts.labels[items[0]] == g:
            pools.counts[g, h] = count
            pools.least[g, h], pools.who[g, h] = keys[0], items[0]
            return
        count -= 1
        keys[0], items[0] = keys[count], items[count]
        _sift_down(keys, items, count, 0)
    pools.counts[g, h] = 0
    if parts.sizes[g] == 0 or pools.limits[g, h] == np.inf:
        pools.least[g, h], pools.who[g, h], pools.limits[g, h] = np.inf, -1, np.inf
        return
    start, stop = h, h + 1
    if pools.limits[g, h] == -np.inf:
        start, stop = 0, parts.sizes.size
    _fill(parts, pools, g, start, stop)


@njit(cache=True)
def _nearest(length, done):
    nearest = -1
    for v in range(length.size):
        if not done[v] and (nearest < 0 or length[v] < length[nearest]):
            nearest = v
    return nearest


@njit(cache=True)
def _relax(search, u, v, length, item):
    if length < search.length[v]:
        search.length[v] = length
        search.parent[v] = u
        search.via[v] = item


@njit(cache=True)
def _shortest_path(parts, pools, net, search):
    """Grow the tree from all nodes with a surplus to the nearest that lacks; return that node.

    Lengths are reduced by the prices, which are then raised so that the path has length zero and
    no edge is negative; one that rounding made negative counts as zero.
    """
    k = parts.sizes.size
    length, done, price = search.length, search.done, net.price
    for u in range(k + 1):
        length[u] = 0.0 if net.surplus[u] > 0 else np.inf
        search.parent[u], search.via[u], done[u] = -1, -1, 0
    while True:
        u = _nearest(length, done)
        if net.surplus[u] < 0:
            break
        done[u] = 1
        if u == k:
            for v in range(k):
                if net.flow[v] > net.lower[v]:
                    _relax(search, k, v, length[k] + max(price[k] - price[v], 0.0), -1)
            continue
        if net.flow[u] < net.upper[u]:
            _relax(search, u, k, length[u] + max(price[u] - price[k], 0.0), -1)
        for v in range(k):
            if not done[v]:
                if pools.who[u, v] == _UNKNOWN:
                    _look_up(parts, pools, u, v)
                reduced = max(pools.least[u, v] + price[u] - price[v], 0.0)
                _relax(search, u, v, length[u] + reduced, pools.who[u, v])
    for v in range(k + 1):
        price[v] += min(length[v], length[u])
    return u


@njit(cache=True)
def _augment(parts, pools, net, search, target):
    """Send flow along the path to ``target``; return how many points moved."""
    k = parts.sizes.size
    amount, v = -net.surplus[target], target
    while search.parent[v] >= 0:  # how much fits: one unit where a point moves
        u = search.parent[v]
        if v == k:
            amount = min(amount, net.upper[u] - net.flow[u])
        elif u == k:
            amount = min(amount, net.flow[v] - net.lower[v])
        else:
            amount = 1
        v = u
    amount = min(amount, net.surplus[v])
    net.surplus[v] -= amount
    net.surplus[target] += amount
    moved, v = 0, target
    while search.parent[v] >= 0:
        u, item = search.parent[v], search.via[v]
        if v == k:
            net.flow[u] += amount
        elif u == k:
            net.flow[v] -= amount
        else:
            _leave(parts, pools, item)
            _link(parts, item, v)
            _enter(parts, pools, item, v)
            moved += 1
        v = u
    return moved


@njit(cache=True, parallel=True)
def cheapest_labels(costs, prices, labels):
    """Overwrite ``labels`` with the cluster of least cost minus price, the first among equals."""
    for i in prange(costs.shape[0]):
        best, least = 0, costs[i, 0] - prices[0]
        for h in range(1, costs.shape[1]):
            value = costs[i, h] - prices[h]
            if value < least:
                best, least = h, value
        labels[i] = best


@njit(cache=True)
def _net_of(sizes, lower, upper, prices):
    """Return the flows that fit the prices: a bound where a price asks for it, else the size."""
    k = sizes.size
    net = _Net(lower, upper, np.empty(k, np.int64), np.zeros(k + 1), np.zeros(k + 1, np.int64))
    for h in range(k):
        net.price[h] = prices[h]
        if prices[h] > 0:
            net.flow[h] = lower[h]
        elif prices[h] < 0:
            net.flow[h] = upper[h]
        else:
            net.flow[h] = min(max(sizes[h], lower[h]), upper[h])
        net.surplus[h] = sizes[h] - net.flow[h]
        net.surplus[k] -= net.surplus[h]
    return net


@njit(cache=True)
def _pools_of(k, entries):
    """Return empty pools of the least room, and ``entries`` more for those that will grow."""
    base = _LEAST_ROOM * k * k
    return _Pools(
        np.empty(base + entries),
        np.empty(base + entries, np.int32),
        np.full(1, base, np.int64),
        _LEAST_ROOM * np.arange(k * k).reshape(k, k),
        np.full((k, k), _LEAST_ROOM, np.int64),
        np.zeros((k, k), np.int64),
        np.full((k, k), -np.inf),
        np.full((k, k), np.inf),
        np.full((k, k), _UNKNOWN, np.int32),
    )


@njit(cache=True)
def repair(costs, labels, lower, upper, prices, entries):
    """Move points at least cost until every size is within its bounds; return the number of moves.

    `labels`, the clusters of least cost minus price, and the `prices` are overwritten.
    """
    n, k = costs.shape
    links, heads = np.empty((2, n), np.int32), np.full(k, -1, np.int32)
    parts = _Parts(costs, labels, links[0], links[1], heads, np.zeros(k, np.int64))
    for i in range(n - 1, -1, -1):
        _link(parts, i, labels[i])
    net = _net_of(parts.sizes, lower, upper, prices)
    pools = _pools_of(k, entries)
    nodes = np.empty((3, k + 1), np.int64)
    search = _Search(np.empty(k + 1), nodes[0], nodes[1], nodes[2])
    moved = 0
    while net.surplus.max() > 0:
        target = _shortest_path(parts, pools, net, search)
        moved += _augment(parts, pools, net, search, target)
    for h in range(k):
        prices[h] = net.price[h] - net.price[k]
        if parts.sizes[h] > lower[h]:  # only a cluster at a bound has a price
            prices[h] = min(prices[h], 0.0)
        if parts.sizes[h] < upper[h]:
            prices[h] = max(prices[h], 0.0)
    return moved
