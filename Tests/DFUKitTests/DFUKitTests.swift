import DFUKit
import Testing

@Suite struct DFUKitTests {}
