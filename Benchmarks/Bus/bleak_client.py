#!/usr/bin/env python3
"""The least that updates a band with PyPI's bleak: the frames of a recorded update, written one after the other.

usage: bleak_client.py FRAMES ADDRESS

FRAMES has a line for each frame that the host writes (`-> HEX`) and for each that it waits for (`<- HEX`).
Prints the seconds from the first write to the last answer.
"""
import asyncio
import sys
import time

from bleak import BleakClient, BleakScanner

COMMAND = "0000ff02-0000-1000-8000-00805f9b34fb"
REPLY = "0000ff01-0000-1000-8000-00805f9b34fb"


async def main(path, address):
    with open(path) as file:
        steps = [(line[:2], bytes.fromhex(line[3:])) for line in file]
    device = await BleakScanner.find_device_by_address(address)
    if device is None:
        sys.exit(f"{address} was not heard")
    replies = asyncio.Queue()
    async with BleakClient(device) as client:
        await client.start_notify(REPLY, lambda _, value: replies.put_nowait(bytes(value)))
        begin = time.perf_counter()
        for direction, frame in steps:
            if direction == "->":
                await client.write_gatt_char(COMMAND, frame, response=False)
            elif (reply := await asyncio.wait_for(replies.get(), 10)) != frame:
                sys.exit(f"{reply.hex()} came where {frame.hex()} was recorded")
        print(time.perf_counter() - begin)


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    asyncio.run(main(*sys.argv[1:]))
