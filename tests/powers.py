#!/usr/bin/env python3
"""Prints common/base/powers.inc: the leading 128 bits of 10^q, cut."""
print("/* The leading 128 bits of 10^q, cut: tests/powers.py writes it. */")
for q in range(-342, 325):
    bits = 10 ** q if q >= 0 else (1 << 2000) // 10 ** -q
    bits = bits << 128 >> bits.bit_length()
    print("    {0x%016x, 0x%016x}, /* %d */" % (bits >> 64, bits & (1 << 64) - 1, q))
