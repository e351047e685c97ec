private import CDBus

/// One message in libdbus's form, which this owns.
final class LibraryMessage {
    /// libdbus's `DBusMessage`, for `LibraryConnection` alone.
    let pointer: OpaquePointer

    private typealias Iterator = UnsafeMutablePointer<DBusMessageIter>

    /// The deepest nesting, variants included (D-Bus specification, "Valid Signatures", "Marshaling": 64).
    private static let maximumDepth = 64
    /// The most bytes of an array (D-Bus specification, "Marshaling": 64 MiB).
    private static let maximumArrayLength = 1 << 26

    /// Puts a message into libdbus's form.
    ///
    /// Everything is checked before libdbus sees it, because libdbus ends the process over a wrong argument.
    /// - Throws: `invalidMessage`.
    init(_ message: DBusMessage, serial: UInt32) throws(DBusError) {
        let type =
            switch message.kind {
            case .methodCall: DBUS_MESSAGE_TYPE_METHOD_CALL
            case .methodReturn: DBUS_MESSAGE_TYPE_METHOD_RETURN
            case .error: DBUS_MESSAGE_TYPE_ERROR
            case .signal: DBUS_MESSAGE_TYPE_SIGNAL
            }
        pointer = orOutOfMemory(dbus_message_new(type))
        dbus_message_set_serial(pointer, serial)
        dbus_message_set_no_reply(pointer, message.expectsReply ? 0 : 1)
        try set("bus name", message.destination, dbus_validate_bus_name, dbus_message_set_destination)
        try set("object path", message.path?.string, dbus_validate_path, dbus_message_set_path)
        try set("interface name", message.interface, dbus_validate_interface, dbus_message_set_interface)
        try set("member name", message.member, dbus_validate_member, dbus_message_set_member)
        switch message.kind {
        case .methodCall:
            try check(message.path != nil && message.member != nil, "a method call needs a path and a member")
        case .signal:
            try check(
                message.path != nil && message.interface != nil && message.member != nil,
                "a signal needs a path, an interface and a member")
        case .methodReturn(let call):
            dbus_message_set_reply_serial(pointer, call)
        case .error(let name, let call):
            dbus_message_set_reply_serial(pointer, call)
            try set("error name", name, dbus_validate_error_name, dbus_message_set_error_name)
        }
        try check(message.signature != nil, "“\(message.body.map(\.type.code).joined())” is no signature")
        var iterator = DBusMessageIter()
        try withUnsafeMutablePointer(to: &iterator) { iterator throws(DBusError) in
            dbus_message_iter_init_append(pointer, iterator)
            for value in message.body { try append(value, depth: 0, to: iterator) }
        }
    }

    deinit { dbus_message_unref(pointer) }

    /// Whether file descriptors go with it.
    var carriesDescriptors: Bool { dbus_message_contains_unix_fds(pointer) != 0 }

    private func set(
        _ kind: String, _ text: String?,
        _ isValid: (UnsafePointer<CChar>?, UnsafeMutablePointer<CDBus.DBusError>?) -> dbus_bool_t,
        _ set: (OpaquePointer?, UnsafePointer<CChar>?) -> dbus_bool_t
    ) throws(DBusError) {
        guard let text else { return }
        try check(!text.utf8.contains(0) && isValid(text, nil) != 0, "“\(text)” is no \(kind)")
        orOutOfMemory(set(pointer, text))
    }

    private func append(_ value: DBusValue, depth: Int, to iterator: Iterator) throws(DBusError) {
        switch value {
        case .byte(let value): append(value, "y", to: iterator)
        case .boolean(let value): append(dbus_bool_t(value ? 1 : 0), "b", to: iterator)
        case .int16(let value): append(value, "n", to: iterator)
        case .uint16(let value): append(value, "q", to: iterator)
        case .int32(let value): append(value, "i", to: iterator)
        case .uint32(let value): append(value, "u", to: iterator)
        case .int64(let value): append(value, "x", to: iterator)
        case .uint64(let value): append(value, "t", to: iterator)
        case .double(let value): append(value, "d", to: iterator)
        case .string(let value):
            try check(!value.utf8.contains(0), "a string holds a NUL, which a bus cannot carry")
            append(text: value, "s", to: iterator)
        case .objectPath(let value): append(text: value.string, "o", to: iterator)
        case .signature(let value): append(text: value.string, "g", to: iterator)
        case .fileDescriptor(let value):
            // libdbus takes a duplicate, which fails when the process has no descriptor left.
            try check(
                withUnsafePointer(to: value.number) { dbus_message_iter_append_basic(iterator, letter("h"), $0) } != 0,
                "the file descriptor \(value.number) cannot be duplicated")
        case .bytes(let bytes):
            try check(bytes.count <= Self.maximumArrayLength, "\(bytes.count) bytes are too many for an array")
            try appendContainer("a", "y", depth: depth, to: iterator) { iterator throws(DBusError) in
                bytes.withUnsafeBufferPointer { bytes in
                    guard var start = bytes.baseAddress else { return }
                    orOutOfMemory(
                        dbus_message_iter_append_fixed_array(iterator, letter("y"), &start, Int32(bytes.count)))
                }
            }
        case .array(let elements, of: let type):
            try appendContainer("a", type.code, depth: depth, to: iterator) { iterator throws(DBusError) in
                for element in elements { try append(element, as: type, depth: depth + 1, to: iterator) }
            }
        case .structure(let members):
            try appendContainer("r", nil, depth: depth, to: iterator) { iterator throws(DBusError) in
                for member in members { try append(member, depth: depth + 1, to: iterator) }
            }
        case .dictionary(let entries, let keyType, let valueType):
            let contents = "{" + keyType.code + valueType.code + "}"
            try appendContainer("a", contents, depth: depth, to: iterator) { iterator throws(DBusError) in
                for (key, value) in entries {
                    try appendContainer("e", nil, depth: depth + 1, to: iterator) { iterator throws(DBusError) in
                        try append(key, as: keyType, depth: depth + 2, to: iterator)
                        try append(value, as: valueType, depth: depth + 2, to: iterator)
                    }
                }
            }
        case .variant(let value):
            let type = value.type
            try check(DBusSignature([type]) != nil, "“\(type.code)” is no signature")
            try appendContainer("v", type.code, depth: depth, to: iterator) { iterator throws(DBusError) in
                try append(value, depth: depth + 1, to: iterator)
            }
        }
    }

    private func append(
        _ value: DBusValue, as type: DBusType, depth: Int, to iterator: Iterator
    ) throws(DBusError) {
        let own = value.type
        try check(own == type, "a value of type “\(own.code)” stands where “\(type.code)” was declared")
        try append(value, depth: depth, to: iterator)
    }

    private func append<Value: BitwiseCopyable>(_ value: Value, _ type: Unicode.Scalar, to iterator: Iterator) {
        withUnsafePointer(to: value) { orOutOfMemory(dbus_message_iter_append_basic(iterator, letter(type), $0)) }
    }

    private func append(text: String, _ type: Unicode.Scalar, to iterator: Iterator) {
        text.withCString { append($0, type, to: iterator) }
    }

    private func appendContainer(
        _ type: Unicode.Scalar, _ contents: String?, depth: Int, to iterator: Iterator,
        _ body: (Iterator) throws(DBusError) -> Void
    ) throws(DBusError) {
        try check(depth < Self.maximumDepth, "a value is nested deeper than \(Self.maximumDepth)")
        var inner = DBusMessageIter()
        try withUnsafeMutablePointer(to: &inner) { inner throws(DBusError) in
            orOutOfMemory(dbus_message_iter_open_container(iterator, letter(type), contents, inner))
            do throws(DBusError) {
                try body(inner)
            } catch {
                dbus_message_iter_abandon_container(iterator, inner)
                throw error
            }
            orOutOfMemory(dbus_message_iter_close_container(iterator, inner))
        }
    }
}

extension DBusMessage {
    /// Reads a message that libdbus received, and so checked.
    ///
    /// - Throws: `answered` with the name LimitsExceeded when the process has no file descriptor left for one in it.
    init(_ pointer: OpaquePointer) throws(DBusError) {
        self.init(headerOf: pointer)
        var iterator = DBusMessageIter()
        dbus_message_iter_init(pointer, &iterator)
        let signature = String(cString: orOutOfMemory(dbus_message_get_signature(pointer)))
        body = try DBusMessage.values(of: DBusSignature(checked: signature).types, at: &iterator)
    }

    /// Reads all but the body.
    init(headerOf pointer: OpaquePointer) {
        let call = dbus_message_get_reply_serial(pointer)
        kind =
            switch dbus_message_get_type(pointer) {
            case DBUS_MESSAGE_TYPE_METHOD_CALL: .methodCall
            case DBUS_MESSAGE_TYPE_METHOD_RETURN: .methodReturn(of: call)
            case DBUS_MESSAGE_TYPE_ERROR: .error(text(dbus_message_get_error_name(pointer)) ?? "", of: call)
            default: .signal
            }
        destination = text(dbus_message_get_destination(pointer))
        path = text(dbus_message_get_path(pointer)).flatMap(DBusObjectPath.init)
        interface = text(dbus_message_get_interface(pointer))
        member = text(dbus_message_get_member(pointer))
        expectsReply = dbus_message_get_no_reply(pointer) == 0
        body = []
        sender = text(dbus_message_get_sender(pointer))
        serial = dbus_message_get_serial(pointer)
    }

    private static func values(
        of types: [DBusType], at iterator: inout DBusMessageIter
    ) throws(DBusError) -> [DBusValue] {
        var values: [DBusValue] = []
        for type in types {
            values.append(try value(of: type, at: &iterator))
            dbus_message_iter_next(&iterator)
        }
        return values
    }

    private static func value(
        of type: DBusType, at iterator: inout DBusMessageIter
    ) throws(DBusError) -> DBusValue {
        switch type {
        case .byte: return .byte(basic(0, at: &iterator))
        case .boolean: return .boolean(basic(dbus_bool_t(0), at: &iterator) != 0)
        case .int16: return .int16(basic(0, at: &iterator))
        case .uint16: return .uint16(basic(0, at: &iterator))
        case .int32: return .int32(basic(0, at: &iterator))
        case .uint32: return .uint32(basic(0, at: &iterator))
        case .int64: return .int64(basic(0, at: &iterator))
        case .uint64: return .uint64(basic(0, at: &iterator))
        case .double: return .double(basic(0, at: &iterator))
        case .string: return .string(string(at: &iterator))
        case .objectPath: return .objectPath(DBusObjectPath(checked: string(at: &iterator)))
        case .signature: return .signature(DBusSignature(checked: string(at: &iterator)))
        case .fileDescriptor:
            // libdbus gives a duplicate, which is ours.
            let number: Int32 = basic(-1, at: &iterator)
            guard number >= 0 else {
                throw DBusError(
                    name: DBUS_ERROR_LIMITS_EXCEEDED,
                    message: "this process has no file descriptor left for the one sent")
            }
            return .fileDescriptor(FileDescriptor(owning: number))
        case .array(of: .byte):
            var inner = DBusMessageIter()
            dbus_message_iter_recurse(&iterator, &inner)
            var start: UnsafePointer<UInt8>?
            var count: Int32 = 0
            dbus_message_iter_get_fixed_array(&inner, &start, &count)
            return .bytes(Array(UnsafeBufferPointer(start: start, count: Int(count))))
        case .array(of: let element):
            var elements: [DBusValue] = []
            try forEach(in: &iterator) { iterator throws(DBusError) in
                elements.append(try value(of: element, at: &iterator))
            }
            return .array(elements, of: element)
        case .structure(let members):
            var inner = DBusMessageIter()
            dbus_message_iter_recurse(&iterator, &inner)
            return .structure(try values(of: members, at: &inner))
        case .dictionary(let keyType, let valueType):
            var entries: [DBusValue: DBusValue] = [:]
            try forEach(in: &iterator) { iterator throws(DBusError) in
                var entry = DBusMessageIter()
                dbus_message_iter_recurse(&iterator, &entry)
                let key = try value(of: keyType, at: &entry)
                dbus_message_iter_next(&entry)
                entries[key] = try value(of: valueType, at: &entry)
            }
            return .dictionary(entries, key: keyType, value: valueType)
        case .variant:
            var inner = DBusMessageIter()
            dbus_message_iter_recurse(&iterator, &inner)
            let signature = orOutOfMemory(dbus_message_iter_get_signature(&inner))
            defer { dbus_free(signature) }
            var code = String(cString: signature)[...]
            return .variant(try value(of: DBusType(readingFrom: &code), at: &inner))
        }
    }

    private static func basic<Value: BitwiseCopyable>(_ start: Value, at iterator: inout DBusMessageIter) -> Value {
        var value = start
        dbus_message_iter_get_basic(&iterator, &value)
        return value
    }

    private static func string(at iterator: inout DBusMessageIter) -> String {
        text(basic(UnsafePointer<CChar>?.none, at: &iterator)) ?? ""
    }

    private static func forEach(
        in iterator: inout DBusMessageIter, _ body: (inout DBusMessageIter) throws(DBusError) -> Void
    ) throws(DBusError) {
        var inner = DBusMessageIter()
        dbus_message_iter_recurse(&iterator, &inner)
        while dbus_message_iter_get_arg_type(&inner) != 0 {
            try body(&inner)
            dbus_message_iter_next(&inner)
        }
    }
}

/// libdbus's functions fail where memory is short, and checked arguments leave no other reason.
func orOutOfMemory(_ success: UInt32) {
    precondition(success != 0, "out of memory")
}

/// See above.
func orOutOfMemory<Value>(_ value: Value?) -> Value {
    guard let value else { preconditionFailure("out of memory") }
    return value
}

private func letter(_ type: Unicode.Scalar) -> Int32 { Int32(type.value) }

private func text(_ string: UnsafePointer<CChar>?) -> String? { string.map { String(cString: $0) } }

private func check(_ condition: Bool, _ problem: @autoclosure () -> String) throws(DBusError) {
    guard condition else { throw DBusError(.invalidMessage, message: problem() + ": this message cannot be sent") }
}
