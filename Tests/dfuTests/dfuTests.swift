import Testing
import dfu

@Suite struct dfuTests {}
