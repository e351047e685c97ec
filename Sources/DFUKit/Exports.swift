// `import DFUKit` alone is enough for whoever embeds an update.
@_exported public import DFUPackage
@_exported public import DFUProtocol
@_exported public import DFUTransport
