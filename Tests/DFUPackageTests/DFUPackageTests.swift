import DFUPackage
import Testing

@Suite struct DFUPackageTests {}
