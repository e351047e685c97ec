#!/usr/bin/env python3
"""An emulated radio: adapters of the Linux kernel (/dev/vhci), and devices that other programs carry to it.

    radio.py SOCKET [--adapters N]

Programs connect to SOCKET and put devices on the air; README.md has the lines that are said there.
"""
import argparse
import asyncio
import json
import logging
import os
import sys

from bumble.transport import open_transport

from air import Air, AirController
from carried_device import Bonds, CarriedDevice

log = logging.getLogger('radio')


class Adapters:
    """The host's side: one controller of the kernel's each."""

    def __init__(self, air):
        self.air = air
        self.transports = {}

    async def plug(self, number):
        if number in self.transports:
            return
        transport = await open_transport('vhci')
        self.transports[number] = transport, AirController(
            f'hci{number}', host_source=transport.source, host_sink=transport.sink, link=self.air,
            public_address=f'00:1A:7D:DA:71:{0x13 + number:02X}')

    async def unplug(self, number):
        transport, controller = self.transports.pop(number, (None, None))
        if transport:
            for connection in list(controller.le_connections.values()):
                self.air.lose_link(connection.self_address)
            self.air.controllers.discard(controller)
            await transport.close()


class Client:
    """A program at the socket: its devices are on the air as long as it is there."""

    def __init__(self, air, adapters, bonds, reader, writer):
        self.air, self.adapters, self.bonds = air, adapters, bonds
        self.reader, self.writer = reader, writer
        self.devices = {}

    def tell(self, event, **members):
        if not self.writer.is_closing():
            self.writer.write(json.dumps({'event': event, **members}).encode() + b'\n')

    async def run(self):
        try:
            while line := await self.reader.readline():
                message = json.loads(line)
                try:
                    await getattr(self, 'do_' + message.pop('do'))(**message)
                except Exception as error:
                    log.exception('%s', line)
                    self.tell('failed', message=f'{type(error).__name__}: {error}')
        except ConnectionError:
            pass
        finally:
            for device in self.devices.values():
                device.go_down()
            self.writer.close()

    async def do_up(self, device, **description):
        await self.do_down(device)
        bonds = self.bonds.setdefault(device, Bonds())
        carried = CarriedDevice(self.air, {'device': device, **description}, bonds, self.tell)
        self.devices[device] = carried
        await carried.start()
        log.info('%s is up', device)
        self.tell('up', device=device)

    async def do_down(self, device):
        if known := self.devices.pop(device, None):
            known.go_down()

    async def do_notify(self, device, characteristic, value):
        if known := self.devices.get(device):
            known.notify(characteristic, bytes.fromhex(value))

    async def do_answer(self, device, id, value=None, error=None):
        if known := self.devices.get(device):
            known.answer(id, value, error)

    async def do_disconnect(self, device):
        if known := self.devices.get(device):
            known.disconnect()

    async def do_loseLink(self, device):
        if known := self.devices.get(device):
            known.lose_link()
        self.tell('linkLost', device=device)

    async def do_forgetBonds(self, device):
        self.bonds[device] = Bonds()
        if known := self.devices.get(device):
            known.device.keystore = known.bonds = self.bonds[device]

    async def do_plug(self, adapter):
        await self.adapters.plug(adapter)
        self.tell('plugged', adapter=adapter)

    async def do_unplug(self, adapter):
        await self.adapters.unplug(adapter)
        self.tell('unplugged', adapter=adapter)


async def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument('socket')
    arguments.add_argument('--adapters', type=int, default=1)
    arguments = arguments.parse_args()
    logging.basicConfig(level=os.environ.get('RADIO_LOG', 'INFO'), stream=sys.stderr,
                        format='%(relativeCreated)7d %(name)s %(message)s')
    air, bonds = Air(), {}
    adapters = Adapters(air)
    for number in range(arguments.adapters):
        await adapters.plug(number)

    async def serve(reader, writer):
        await Client(air, adapters, bonds, reader, writer).run()

    server = await asyncio.start_unix_server(serve, arguments.socket, limit=1 << 20)
    await server.serve_forever()


asyncio.run(main())
