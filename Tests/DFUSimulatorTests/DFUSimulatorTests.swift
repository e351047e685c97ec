import DFUSimulator
import Testing

@Suite struct DFUSimulatorTests {}
