"""A device on the air whose behaviour is somewhere else: it carries reads, writes and notifications, and decides nothing."""
import asyncio
import itertools

from bumble import att, gatt, hci, keys, pairing
from bumble.core import AdvertisingData, UUID
from bumble.device import Device, DeviceConfiguration
from bumble.gatt import Characteristic, CharacteristicValue, Service
from bumble.host import Host
from bumble.transport.common import AsyncPipeSink

from air import AirController, Pace


class Pairing(pairing.PairingDelegate):
    """How the device pairs, by its description."""

    IO = {
        'justWorks': pairing.PairingDelegate.NO_OUTPUT_NO_INPUT,
        'comparison': pairing.PairingDelegate.DISPLAY_OUTPUT_AND_YES_NO_INPUT,
        'entry': pairing.PairingDelegate.DISPLAY_OUTPUT_ONLY,
        'display': pairing.PairingDelegate.KEYBOARD_INPUT_ONLY,
    }

    def __init__(self, description):
        super().__init__(io_capability=self.IO[description.get('method', 'justWorks')])
        self.number = description.get('number', 0)
        self.refuses = description.get('refuses', False)

    async def accept(self):
        return not self.refuses

    async def get_number(self):
        return self.number

    async def generate_passkey(self):
        return self.number


class CarriedDevice:
    """Exists from one start of the device to the next; the keys of its bonds outlive it.

    `description` is what `up` says (see README.md), `tell` sends an event.
    """

    def __init__(self, air, description, bonds, tell):
        self.air = air
        self.description = description
        self.tell = tell
        self.name = description['device']
        self.connection = None
        self.answers = {}
        self.numbers = itertools.count(1)
        self.is_up = True
        address = hci.Address(description.get('address', self.name))
        radio = description.get('radio', {})
        air.paces[str(address)] = Pace(
            interval=seconds(radio.get('interval')), packets_per_event=radio.get('packetsPerEvent', 6),
            data_length=radio.get('dataLength', 251), supervision_timeout=seconds(radio.get('supervisionTimeout')))
        self.controller = AirController(self.name, link=air)
        self.controller.rssi = description.get('rssi', -60)
        interval = radio.get('advertisingInterval', 100)
        self.device = Device(
            config=DeviceConfiguration(
                name=description.get('name') or 'nameless', address=address, advertising_interval_min=interval,
                advertising_interval_max=interval, irk=bytes(address) * 2 + b'keys'),
            host=Host(self.controller, AsyncPipeSink(self.controller)))
        self.bonds = bonds
        demand = description.get('pairing')
        delegate = Pairing(demand or {'refuses': True})
        self.device.pairing_config_factory = lambda connection: pairing.PairingConfig(
            mitm=delegate.io_capability != pairing.PairingDelegate.NO_OUTPUT_NO_INPUT, delegate=delegate)
        # Each with its UUID as it was told; more than one service may have the same.
        self.characteristics = []
        self.device.add_services([self.service(service, demand) for service in description['services']])
        server = self.device.gatt_server
        server.max_mtu = radio.get('mtu', 247)
        # Bumble handles each write in a task, and does not say whether it is to be answered.
        self.write_others = (server.on_att_write_request, server.on_att_write_command)
        server.on_att_write_request = self.on_write_request
        server.on_att_write_command = self.on_write_command
        self.device.on('connection', self.on_connection)

    # What it is

    def service(self, description, demand):
        protected = demand.get('characteristics') if demand else []
        return Service(UUID(description['uuid']), [
            self.characteristic(each, protected is None or each['uuid'] in protected)
            for each in description['characteristics']])

    def characteristic(self, description, is_protected):
        permissions = Characteristic.READABLE | Characteristic.WRITEABLE
        if is_protected:
            permissions |= Characteristic.READ_REQUIRES_ENCRYPTION | Characteristic.WRITE_REQUIRES_ENCRYPTION
        uuid = description['uuid']

        async def read(_):
            return await self.ask('read', characteristic=uuid)

        async def write(_, value):
            await self.ask('written', characteristic=uuid, value=value.hex())

        made = Characteristic(
            UUID(uuid), Characteristic.Properties(description['properties']), permissions,
            CharacteristicValue(read=read, write=write))
        self.characteristics.append((uuid, made))
        return made

    async def start(self):
        await self.device.power_on()
        self.device.keystore = self.bonds
        if self.is_up and self.description.get('isHeard', True):
            await self.advertise()

    async def advertise(self):
        name = self.description.get('name')
        uuids = [UUID(uuid) for uuid in self.description.get('advertised', [])]
        parts = [(AdvertisingData.FLAGS, b'\x06')]
        for kind, length in ((AdvertisingData.COMPLETE_LIST_OF_16_BIT_SERVICE_CLASS_UUIDS, 2),
                             (AdvertisingData.COMPLETE_LIST_OF_128_BIT_SERVICE_CLASS_UUIDS, 16)):
            listed = b''.join(uuid.to_bytes() for uuid in uuids if len(uuid.to_bytes()) == length)
            if listed:
                parts.append((kind, listed))
        # The name goes into the scan response, as on real devices.
        response = AdvertisingData([(AdvertisingData.COMPLETE_LOCAL_NAME, name.encode())] if name else [])
        await self.device.start_advertising(
            auto_restart=False, advertising_data=bytes(AdvertisingData(parts)), scan_response_data=bytes(response))

    # What happens to it

    def on_connection(self, connection):
        self.connection = connection
        connection.on('disconnection', self.on_disconnection)
        self.tell('connected', device=self.name)

    def on_disconnection(self, reason):
        self.connection = None
        for answer in self.answers.values():
            answer.cancel()
        self.answers.clear()
        if not self.is_up:
            return
        self.tell('disconnected', device=self.name, reason=reason)
        asyncio.get_running_loop().create_task(self.advertise())

    def carried(self, handle):
        """The UUID and characteristic that is written at this handle, where it is one of the device's."""
        return next((each for each in self.characteristics if each[1].handle == handle), (None, None))

    def configured(self, handle):
        """The UUID and characteristic that is subscribed to at this handle, where it is one of the device's."""
        attribute = self.device.gatt_server.get_attribute(handle)
        if attribute is None or attribute.type != gatt.GATT_CLIENT_CHARACTERISTIC_CONFIGURATION_DESCRIPTOR:
            return None, None
        return next((each for each in self.characteristics
                     if each[1].handle < handle <= each[1].end_group_handle), (None, None))

    def is_allowed(self, made, connection):
        needs = made.permissions & Characteristic.WRITE_REQUIRES_ENCRYPTION
        return not needs or connection.encryption

    def on_write_command(self, connection, request):
        uuid, made = self.carried(request.attribute_handle)
        if made is None:
            return self.write_others[1](connection, request)
        if self.is_allowed(made, connection):
            self.tell('written', device=self.name, characteristic=uuid, value=request.attribute_value.hex())

    def on_write_request(self, connection, request):
        uuid, made = self.configured(request.attribute_handle)
        if made:
            return self.subscribe(connection, request, uuid, made)
        uuid, made = self.carried(request.attribute_handle)
        if made is None:
            return self.write_others[0](connection, request)
        if not self.is_allowed(made, connection):
            return self.respond(connection, request, att.ErrorCode.INSUFFICIENT_AUTHENTICATION)
        self.respond_later(connection, request, self.ask(
            'written', characteristic=uuid, value=request.attribute_value.hex()))

    def subscribe(self, connection, request, uuid, made):
        """Before it is answered, so that the device can notify before its answer."""
        self.device.gatt_server.write_cccd(connection, made, request.attribute_value)
        self.respond_later(connection, request, self.ask(
            'subscribed', characteristic=uuid, isOn=any(request.attribute_value)))

    def respond_later(self, connection, request, answer):
        answer.add_done_callback(lambda done: done.cancelled() or self.respond(
            connection, request, done.exception() and done.exception().error_code))

    def respond(self, connection, request, error):
        self.device.gatt_server.send_response(connection, att.ATT_Write_Response() if not error else
            att.ATT_Error_Response(
                request_opcode_in_error=request.op_code, attribute_handle_in_error=request.attribute_handle,
                error_code=error))

    def ask(self, event, **members):
        """Tells an event that is to be answered; what comes of it is the value, or an `ATT_Error`."""
        number = next(self.numbers)
        self.answers[number] = asyncio.get_running_loop().create_future()
        self.tell(event, device=self.name, id=number, **members)
        return self.answers[number]

    # What it does

    def answer(self, number, value, error):
        future = self.answers.pop(number, None)
        if future is None or future.done():
            return
        if error:
            future.set_exception(att.ATT_Error(error))
        else:
            future.set_result(bytes.fromhex(value or ''))

    def notify(self, uuid, value):
        """Notifies or indicates, as the host has asked for; without a subscription nothing is sent."""
        if self.connection is None:
            return
        server = self.device.gatt_server
        subscriptions = server.subscribers.get(self.connection) or {}
        value = value[:self.connection.att_mtu - 3]
        for made in [made for each, made in self.characteristics if each == uuid]:
            subscription = subscriptions.get(made.handle, b'\0\0')
            if subscription[0] & 1:
                server.send_gatt_pdu(self.connection, bytes(att.ATT_Handle_Value_Notification(
                    attribute_handle=made.handle, attribute_value=value)))
            elif subscription[0] & 2:
                asyncio.get_running_loop().create_task(server.indicate_subscriber(self.connection, made, value))

    def disconnect(self):
        if self.connection:
            asyncio.get_running_loop().create_task(self.connection.disconnect())

    def lose_link(self):
        self.air.lose_link(self.device.random_address)

    def go_down(self):
        """Off the air without a word; the host notices when the supervision timeout is over."""
        self.is_up = False
        self.air.remove(self.controller)


def seconds(milliseconds):
    return None if milliseconds is None else milliseconds / 1000


class Bonds(keys.MemoryKeyStore):
    """The keys that a device keeps over its restarts."""
