/// What help and completions know of an argument: a word on the command line that belongs to no option.
struct ArgumentDescription: Sendable, Equatable {
    var name: String
    var completion = Completion.nothing
    var help: String
    var isOptional = false
    var isRepeatable = false
}

/// An argument of a command, and where its value goes.
struct Argument<Values: Sendable>: Sendable {
    var description: ArgumentDescription
    let assign: @Sendable (inout Values, _ text: String) throws(InvalidValue) -> Void

    /// An argument that must be given.
    static func argument<Value>(
        _ path: Place<Values, Value>, _ format: ValueFormat<Value>, help: String
    ) -> Self {
        let description = ArgumentDescription(name: format.placeholder, completion: format.completion, help: help)
        return Argument(description: description) { values, text throws(InvalidValue) in
            values[keyPath: path] = try format.read(text)
        }
    }

    /// An argument that may be left out; the last of a command's arguments.
    static func argument<Value>(
        _ path: Place<Values, Value?>, _ format: ValueFormat<Value>, help: String
    ) -> Self {
        var description = ArgumentDescription(name: format.placeholder, completion: format.completion, help: help)
        description.isOptional = true
        return Argument(description: description) { values, text throws(InvalidValue) in
            values[keyPath: path] = try format.read(text)
        }
    }

    /// Any number of arguments, or none; the last of a command's arguments.
    static func arguments<Value>(
        _ path: Place<Values, [Value]>, _ format: ValueFormat<Value>, help: String
    ) -> Self {
        let description = ArgumentDescription(
            name: format.placeholder, completion: format.completion, help: help, isOptional: true, isRepeatable: true)
        return Argument(description: description) { values, text throws(InvalidValue) in
            values[keyPath: path].append(try format.read(text))
        }
    }
}
