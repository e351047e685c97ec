#!/usr/bin/env python3
"""How fast bleak sends records to a band on the air, one WriteValue after the other.

usage: bleak_stream.py ADDRESS SIZE COUNT

Prints the seconds from the first record to the answer of the band to a question behind the last.
"""
import asyncio
import sys
import time

from bleak import BleakClient, BleakScanner

COMMAND = "0000ff02-0000-1000-8000-00805f9b34fb"
REPLY = "0000ff01-0000-1000-8000-00805f9b34fb"


async def main(address, size, count):
    device = await BleakScanner.find_device_by_address(address)
    if device is None:
        sys.exit(f"{address} was not heard")
    answered = asyncio.Event()
    async with BleakClient(device) as client:
        await client.start_notify(REPLY, lambda *_: answered.set())
        # A data frame whose checksum is wrong: the band takes it and says nothing.
        record = bytes.fromhex("1ba2") + bytes(size - 2)
        begin = time.perf_counter()
        for _ in range(count):
            await client.write_gatt_char(COMMAND, record, response=False)
        await client.write_gatt_char(COMMAND, bytes.fromhex("1b99014b"), response=False)
        await answered.wait()
        print(time.perf_counter() - begin)


if __name__ == "__main__":
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    asyncio.run(main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3])))
