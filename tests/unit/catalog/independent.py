"""Hashes written from their specifications, to check the library's and the vectors in docs/shardings.md."""

from __future__ import annotations

import hashlib
from bisect import bisect_left

M32, M64 = 0xFFFFFFFF, 0xFFFFFFFFFFFFFFFF


def crc32(data: bytes) -> int:
    crc = M32
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0xEDB88320 if crc & 1 else 0)
    return crc ^ M32


def _rotate(value: int, count: int, width: int) -> int:
    return (value << count | value >> width - count) & ((1 << width) - 1)


def murmur3_32(data: bytes, seed: int = 0) -> int:
    c1, c2, h = 0xCC9E2D51, 0x1B873593, seed
    blocks = len(data) // 4
    for n in range(blocks):
        k = int.from_bytes(data[4 * n : 4 * n + 4], "little")
        h ^= _rotate(k * c1 & M32, 15, 32) * c2 & M32
        h = (_rotate(h, 13, 32) * 5 + 0xE6546B64) & M32
    tail = int.from_bytes(data[4 * blocks :], "little")
    h ^= _rotate(tail * c1 & M32, 15, 32) * c2 & M32
    h ^= len(data)
    h = (h ^ h >> 16) * 0x85EBCA6B & M32
    h = (h ^ h >> 13) * 0xC2B2AE35 & M32
    return h ^ h >> 16


def murmur3_64(data: bytes, seed: int = 0) -> int:
    """The first half of x64_128."""
    c1, c2, h1, h2 = 0x87C37B91114253D5, 0x4CF5AD432745937F, seed, seed
    blocks = len(data) // 16
    for n in range(blocks):
        k1, k2 = (int.from_bytes(data[16 * n + o : 16 * n + o + 8], "little") for o in (0, 8))
        h1 ^= _rotate(k1 * c1 & M64, 31, 64) * c2 & M64
        h1 = ((_rotate(h1, 27, 64) + h2) * 5 + 0x52DCE729) & M64
        h2 ^= _rotate(k2 * c2 & M64, 33, 64) * c1 & M64
        h2 = ((_rotate(h2, 31, 64) + h1) * 5 + 0x38495AB5) & M64
    tail = data[16 * blocks :]
    h2 ^= _rotate(int.from_bytes(tail[8:], "little") * c2 & M64, 33, 64) * c1 & M64
    h1 ^= _rotate(int.from_bytes(tail[:8], "little") * c1 & M64, 31, 64) * c2 & M64
    h1, h2 = h1 ^ len(data), h2 ^ len(data)
    h1 = (h1 + h2) & M64
    h2 = (h2 + h1) & M64
    return (_mix(h1) + _mix(h2)) & M64


def _mix(k: int) -> int:
    k = (k ^ k >> 33) * 0xFF51AFD7ED558CCD & M64
    k = (k ^ k >> 33) * 0xC4CEB9FE1A85EC53 & M64
    return k ^ k >> 33


P1, P2, P3 = 11400714785074694791, 14029467366897019727, 1609587929392839161
P4, P5 = 9650029242287828579, 2870177450012600261


def xxhash64(data: bytes, seed: int = 0) -> int:
    at = 0
    if len(data) >= 32:
        lanes = [(seed + P1 + P2) & M64, (seed + P2) & M64, seed, (seed - P1) & M64]
        while at + 32 <= len(data):
            for n in range(4):
                word = int.from_bytes(data[at + 8 * n : at + 8 * n + 8], "little")
                lanes[n] = _rotate((lanes[n] + word * P2) & M64, 31, 64) * P1 & M64
            at += 32
        h = sum(_rotate(lane, turn, 64) for lane, turn in zip(lanes, (1, 7, 12, 18), strict=True)) & M64
        for lane in lanes:
            h = ((h ^ _rotate(lane * P2 & M64, 31, 64) * P1 & M64) * P1 + P4) & M64
    else:
        h = (seed + P5) & M64
    h = (h + len(data)) & M64
    while at + 8 <= len(data):
        word = int.from_bytes(data[at : at + 8], "little")
        h = (_rotate(h ^ _rotate(word * P2 & M64, 31, 64) * P1 & M64, 27, 64) * P1 + P4) & M64
        at += 8
    if at + 4 <= len(data):
        word = int.from_bytes(data[at : at + 4], "little")
        h = (_rotate(h ^ word * P1 & M64, 23, 64) * P2 + P3) & M64
        at += 4
    for byte in data[at:]:
        h = _rotate(h ^ byte * P5 & M64, 11, 64) * P1 & M64
    h = (h ^ h >> 33) * P2 & M64
    h = (h ^ h >> 29) * P3 & M64
    return h ^ h >> 32


def fnv1a(data: bytes, width: int = 64) -> int:
    h, prime = (14695981039346656037, 1099511628211) if width == 64 else (2166136261, 16777619)
    for byte in data:
        h = (h ^ byte) * prime % (1 << width)
    return h


def md5(data: bytes, width: int = 64) -> int:
    return int(hashlib.md5(data).hexdigest()[: width // 4], 16)


def java_string(text: str) -> int:
    units = text.encode("utf-16-be", "surrogatepass")
    count = len(units) // 2
    chars = [units[2 * n] * 256 + units[2 * n + 1] for n in range(count)]
    return sum(char * pow(31, count - 1 - n) for n, char in enumerate(chars)) % (1 << 32)


def java_long(number: int) -> int:
    bits = number % (1 << 64)
    return bits % (1 << 32) ^ bits // (1 << 32)


def ring(hashed: list[tuple[int, int]], key: int) -> int:
    """The owner of the first point at or after `key`, among (point, owner)."""
    points = sorted(dict(reversed(hashed)).items())
    index = bisect_left([point for point, _ in points], key)
    return points[index % len(points)][1]


def signed(number: int, width: int = 32) -> int:
    return number - (1 << width) if number >> width - 1 else number


def mycat_ring(nodes: int, key: str, points: int = 160, seed: int = 0) -> int:
    """The node of a key: points as a dict, looked through from the lowest."""
    owners: dict[int, int] = {}
    for node in range(nodes):
        name = f"SHARD-{node}"
        for point in range(points):
            name = f"{name}-NODE-{point}"
            owners[signed(murmur3_32(name.encode("utf-16-le"), seed))] = node
    wanted = signed(murmur3_32(key.encode("utf-16-le"), seed))
    return owners[min((point for point in owners if point >= wanted), default=min(owners))]


def citus_shard(hashed: int, shards: int) -> int:
    """The shard whose shardminvalue and shardmaxvalue a signed hash is between, as Citus writes them."""
    step = 2**32 // shards
    for shard in range(shards):
        low = -(2**31) + shard * step
        high = 2**31 - 1 if shard == shards - 1 else low + step - 1
        if low <= hashed <= high:
            return shard
    raise AssertionError


def vitess_shard(keyspace_id: bytes, names: list[str]) -> str:
    """The shard of a keyspace id among names such as -40, 40-80, 80-."""
    for name in names:
        low, high = (bytes.fromhex(part) for part in name.split("-"))
        if low <= keyspace_id and (not high or keyspace_id < high):
            return name
    raise AssertionError
