"""The air: Bumble's link and controllers, with what the real Linux stack needs put right.

Each workaround names what Bumble 0.0.236 does instead.
"""
import asyncio
import collections
import math

import bumble.controller
from bumble import hci, ll
from bumble.controller import Controller
from bumble.link import LocalLink

# A link-layer procedure takes a connection event or two. In no time at all, bluetoothd may see the ATT socket connected
# before it has read the kernel's Device Connected event, and then breaks that connection off.
PROCEDURE_TIME = 0.02


class Connection(bumble.controller.Connection):
    """One side of a connection: sends in connection events, and reports packets as sent only then.

    Bumble sends at once, which leaves the sender's flow control nothing to work against: a burst overruns buffers that no
    real radio would fill.
    """

    def __post_init__(self):
        super().__post_init__()
        self.queue = collections.deque()
        self.timer = None
        self.silent = False
        self.interval = self.controller.link.interval_between(self.self_address, self.peer_address)
        self.pace = self.controller.link.pace_between(self.self_address, self.peer_address)
        self.fragments = 0

    def on_hci_acl_data_packet(self, packet):
        self.queue.append(packet)
        self.schedule()

    def schedule(self):
        if self.timer is None and self.queue and not self.silent:
            # Connection events lie on a grid.
            loop = asyncio.get_running_loop()
            event = math.floor(loop.time() / self.interval) + 1
            self.timer = loop.call_at(event * self.interval, self.connection_event)

    def connection_event(self):
        self.timer = None
        if self.silent or self.controller.find_le_connection_by_handle(self.handle) is not self:
            return
        sent = 0
        self.fragments += self.pace.packets_per_event
        while self.queue:
            needed = -(-len(bytes(self.queue[0].data)) // self.pace.data_length)
            if needed > self.fragments:
                break
            self.fragments -= needed
            self.assembler.feed_packet(self.queue.popleft())
            sent += 1
        if not self.queue:
            self.fragments = 0
        if sent:
            self.controller.send_hci_packet(hci.HCI_Number_Of_Completed_Packets_Event(
                connection_handles=[self.handle], num_completed_packets=[sent]))
        self.schedule()


bumble.controller.Connection = Connection


class Pace:
    """What a connection event carries: packets, and the bytes in one."""

    def __init__(self, interval=None, packets_per_event=6, data_length=251, supervision_timeout=None):
        self.interval = interval
        self.packets_per_event = packets_per_event
        self.data_length = data_length
        self.supervision_timeout = supervision_timeout


class Air(LocalLink):
    """All controllers, and what goes between them."""

    def __init__(self):
        super().__init__()
        self.due = {}
        # What is asked of a connection, by the two addresses; and what devices want of theirs, by their address.
        self.requested = {}
        self.paces = {}

    def pace_between(self, one, other):
        return self.paces.get(str(one)) or self.paces.get(str(other)) or Pace()

    def interval_between(self, one, other):
        asked, _ = self.requested.get(frozenset((str(one), str(other))), (0.03, 0.42))
        return self.pace_between(one, other).interval or asked

    def supervision_timeout_between(self, one, other):
        _, asked = self.requested.get(frozenset((str(one), str(other))), (0.03, 0.42))
        return self.pace_between(one, other).supervision_timeout or asked

    def later(self, way, delay, body, *arguments):
        """Calls `body` after `delay`, and never before what goes the same way."""
        loop = asyncio.get_running_loop()
        due = max(loop.time() + delay, self.due.get(way, 0) + 1e-6)
        self.due[way] = due
        loop.call_at(due, body, *arguments)

    def send_acl_data(self, sender, destination, transport, data):
        # Bumble takes the sender's random address as source. BlueZ connects with its public one, so that its data would be
        # dropped.
        connection = sender.le_connections.get(destination)
        receiver = self.find_le_controller(destination)
        if connection and receiver and not connection.silent:
            way = (str(connection.self_address), str(destination))
            self.later(way, 0, self.deliver, receiver, connection.self_address, transport, data)

    def deliver(self, receiver, source, transport, data):
        connection = receiver.le_connections.get(source)
        if connection and not connection.silent:
            receiver.on_link_acl_data(source, transport, data)

    def send_ll_control_pdu(self, sender_address, receiver_address, packet):
        receiver = self.find_le_controller(receiver_address)
        if receiver is None or self.is_silent(sender_address, receiver_address):
            return
        way = (str(sender_address), str(receiver_address))
        self.later(way, PROCEDURE_TIME, self.deliver_control, receiver, sender_address, packet)

    def deliver_control(self, receiver, sender_address, packet):
        connection = receiver.le_connections.get(sender_address)
        if connection and not connection.silent:
            receiver.on_ll_control_pdu(sender_address, packet)

    def is_silent(self, one, other):
        return any(connection.silent for controller in self.controllers for connection in controller.le_connections.values()
                   if {str(connection.self_address), str(connection.peer_address)} == {str(one), str(other)})

    def sides(self, address):
        """Both sides of the connections that a device has."""
        return [(controller, connection) for controller in list(self.controllers)
                for connection in list(controller.le_connections.values())
                if str(address) in (str(connection.self_address), str(connection.peer_address))]

    def lose_link(self, address):
        """Nothing is carried any more between a device and its host; both notice when the supervision timeout is over."""
        for controller, connection in self.sides(address):
            self.silence(controller, connection)

    def silence(self, controller, connection):
        if connection.silent:
            return
        connection.silent = True
        timeout = self.supervision_timeout_between(connection.self_address, connection.peer_address)
        asyncio.get_running_loop().call_later(timeout, self.end, controller, connection)

    def end(self, controller, connection):
        if controller in self.controllers and controller.le_connections.get(connection.peer_address) is connection:
            controller.on_le_disconnected(connection, hci.HCI_ErrorCode.CONNECTION_TIMEOUT_ERROR)

    def remove(self, controller):
        """A device goes off the air without a word."""
        for connection in list(controller.le_connections.values()):
            self.lose_link(connection.self_address)
        controller.le_legacy_advertiser.stop()
        self.controllers.discard(controller)


class AirController(Controller):
    """A controller without what Bumble claims and does not have: the commands of extended advertising.

    Without the feature bits both sides use the legacy commands and reports.
    """
    le_features = Controller.le_features & ~(
        hci.LeFeatureMask.LE_EXTENDED_ADVERTISING
        | hci.LeFeatureMask.LE_PERIODIC_ADVERTISING
        | hci.LeFeatureMask.LL_PRIVACY)
    # With 27, ten HCI packets are one ATT packet.
    le_acl_data_packet_length = 251
    total_num_le_acl_data_packets = 16
    supported_max_tx_octets = supported_max_rx_octets = 251
    suggested_max_tx_octets = 251

    reported = frozenset()

    def on_hci_le_set_scan_enable_command(self, command):
        self.reported = set()
        return super().on_hci_le_set_scan_enable_command(command)

    def on_advertising_pdu(self, pdu):
        """Reports what an advertiser says, with its own scan response, and once where the host wants no duplicates.

        Bumble gives the advertisement as the scan response too, and all duplicates.
        """
        if self.le_scan_enable:
            self.report(pdu)
        pending = self.pending_le_connection
        if pending and pending.peer_address == pdu.advertiser_address:
            asked = (pending.connection_interval_min * 0.00125, pending.supervision_timeout * 0.01)
            own = self.public_address if pending.own_address_type == hci.OwnAddressType.PUBLIC else self.random_address
            self.link.requested[frozenset((str(own), str(pdu.advertiser_address)))] = asked
            self.create_le_connection(pdu.advertiser_address)

    def report(self, pdu):
        advertiser = next((controller.le_legacy_advertiser for controller in self.link.controllers
                           if controller.le_legacy_advertiser.enabled
                           and controller.le_legacy_advertiser.address == pdu.advertiser_address), None)
        if advertiser is None:
            return
        reports = [(hci.HCI_LE_Advertising_Report_Event.EventType.ADV_IND, bytes(pdu.data))]
        if self.le_scan_type == 1:
            reports.append((hci.HCI_LE_Advertising_Report_Event.EventType.SCAN_RSP, bytes(advertiser.scan_response_data)))
        for kind, data in reports:
            if self.filter_duplicates:
                if (kind, str(pdu.advertiser_address), data) in self.reported:
                    continue
                self.reported.add((kind, str(pdu.advertiser_address), data))
            self.send_hci_packet(hci.HCI_LE_Advertising_Report_Event([hci.HCI_LE_Advertising_Report_Event.Report(
                event_type=kind, address_type=pdu.advertiser_address.address_type, address=pdu.advertiser_address,
                data=data, rssi=getattr(advertiser.controller, 'rssi', -60))]))

    def on_hci_le_create_connection_cancel_command(self, command):
        """Really cancels; Bumble says so and goes on. The kernel waits for the completion event."""
        pending, self.pending_le_connection = self.pending_le_connection, None
        if pending is None:
            return hci.HCI_StatusReturnParameters(hci.HCI_ErrorCode.COMMAND_DISALLOWED_ERROR)
        asyncio.get_running_loop().call_soon(self.send_hci_packet, hci.HCI_LE_Connection_Complete_Event(
            status=hci.HCI_ErrorCode.UNKNOWN_CONNECTION_IDENTIFIER_ERROR, connection_handle=0, role=0,
            peer_address_type=pending.peer_address.address_type, peer_address=pending.peer_address,
            connection_interval=0, peripheral_latency=0, supervision_timeout=0, central_clock_accuracy=0))
        return hci.HCI_StatusReturnParameters(hci.HCI_ErrorCode.SUCCESS)

    def on_ll_control_pdu(self, sender_address, packet):
        # An update of the interval holds for what is sent from then on.
        connection = self.le_connections.get(sender_address)
        if connection and isinstance(packet, ll.ConnectionUpdateInd):
            for _, side in self.link.sides(connection.self_address):
                side.interval = side.pace.interval or packet.interval * 0.00125
        super().on_ll_control_pdu(sender_address, packet)
