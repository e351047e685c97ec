#compdef dfu
# Completions of dfu for zsh: put them as _dfu into a folder of $fpath, or
# source <(dfu completions zsh)
_dfu() {
    local command=dfu
    while (( CURRENT > 2 )); do
        case "$command $words[2]" in
        'dfu flash'|'dfu check'|'dfu info'|'dfu scan'|'dfu inspect'|'dfu read'|'dfu write'|'dfu notify'|'dfu pair'|'dfu forget'|'dfu profile'|'dfu profile show'|'dfu profile check'|'dfu simulate'|'dfu replay'|'dfu doctor'|'dfu help'|'dfu completions') ;;
        *) break ;;
        esac
        command+=" $words[2]"
        shift words
        (( CURRENT-- ))
    done
    case "$command" in
    'dfu')
        _arguments -s -S \
            '--version[Show the version.]' \
            '-h[Show this help.]' \
            '--help[Show this help.]' \
            '1:subcommand:((flash\:"Update the firmware of one or several devices." check\:"Ask a device whether it would take a package, and change nothing." info\:"Show what a package holds, and whether it is sound." scan\:"List the devices in range." inspect\:"Show a device'\''s services and versions." read\:"Read a characteristic." write\:"Write a characteristic." notify\:"Show what a characteristic notifies." pair\:"Bond with a device." forget\:"Remove the bond with a device." profile\:"Show or check a device profile." simulate\:"Put simulated devices on a bus, for this program and others." replay\:"Play a captured update against the procedure." doctor\:"Find what on this machine stands in the way." help\:"Show how a verb is used." completions\:"Print the completions for a shell."))'
        ;;
    'dfu flash')
        _arguments -s -S \
            '*--device=[The device. Repeat it for several.]:id:(sim\:band sim\:secure)' \
            '--protocol=[auto, secure, legacy, smp or block-ack (default\: auto). This version has secure and block-ack.]:protocol:(auto secure block-ack)' \
            '--profile=[What the device'\''s kind differs in.]:file:_files' \
            '--allow-downgrade[Let the device take an older or the same version.]' \
            '*--skip-check=[Go on without a check\: battery, version, hash, size or hardware.]:check:(battery version hash size hardware)' \
            '--verify[Look whether the new firmware runs (default\: where the device can tell).]' \
            '--no-verify[Look whether the new firmware runs (default\: where the device can tell).]' \
            '--only=[Send this part alone\: application, bootloader, softdevice or softdevice-bootloader (app, bl, sd for short).]:part:(application bootloader softdevice softdevice-bootloader)' \
            '--firmware-version=[The version to announce, in place of the package'\''s.]:x.y.z: ' \
            '--crc=[The image'\''s CRC-32, in place of the one in its name.]:hex: ' \
            '--no-crc[Do not compare the image with a stated CRC-32.]' \
            '--key=[The public key (PEM) that must have signed the package.]:file:_files' \
            '--mtu=[Send no packet longer than n - 3 bytes.]:n: ' \
            '--gap=[The pause between packets, or '\''adaptive'\'' (default\: the profile'\''s).]:ms|adaptive:(adaptive)' \
            '--prn=[The most packets between two receipts of Secure DFU; 0 for none (default\: what goes best).]:n: ' \
            '--adapter=[The Bluetooth adapter (default\: the first that is powered).]:hciN: ' \
            '--timeout=[The limit of the whole command.]:seconds: ' \
            '--scan-timeout=[How long to look for devices (default\: 10).]:seconds: ' \
            '--connect-retries=[How often connecting is tried again (default\: 4).]:n: ' \
            '--capture=[Write a transcript of all packets.]:file:_files' \
            '--power-on[Power the adapter on where it is off.]' \
            '--jobs=[How many devices are updated at once (default\: 1).]:n: ' \
            '--json[Print one JSON object a line on stdout, and nothing else there.]' \
            '--progress=[auto, bar, plain or none (default\: auto, a bar on a terminal and plain lines elsewhere).]:style:(auto bar plain none)' \
            '*-v[Log to stderr; twice with every packet.]' \
            '*--verbose[Log to stderr; twice with every packet.]' \
            '--log=[Add the log with every packet to a file.]:file:_files' \
            '-h[Show this help.]' \
            '--help[Show this help.]' \
            ':package:_files'
        ;;
    'dfu check')
        _arguments -s -S \
            '--device=[The device.]:id:(sim\:band sim\:secure)' \
            '--protocol=[auto, secure, legacy, smp or block-ack (default\: auto). This version has secure and block-ack.]:protocol:(auto secure block-ack)' \
            '--profile=[What the device'\''s kind differs in.]:file:_files' \
            '--allow-downgrade[Let the device take an older or the same version.]' \
            '*--skip-check=[Go on without a check\: battery, version, hash, size or hardware.]:check:(battery version hash size hardware)' \
            '--only=[Send this part alone\: application, bootloader, softdevice or softdevice-bootloader (app, bl, sd for short).]:part:(application bootloader softdevice softdevice-bootloader)' \
            '--firmware-version=[The version to announce, in place of the package'\''s.]:x.y.z: ' \
            '--crc=[The image'\''s CRC-32, in place of the one in its name.]:hex: ' \
            '--no-crc[Do not compare the image with a stated CRC-32.]' \
            '--key=[The public key (PEM) that must have signed the package.]:file:_files' \
            '--adapter=[The Bluetooth adapter (default\: the first that is powered).]:hciN: ' \
            '--timeout=[The limit of the whole command.]:seconds: ' \
            '--scan-timeout=[How long to look for devices (default\: 10).]:seconds: ' \
            '--connect-retries=[How often connecting is tried again (default\: 4).]:n: ' \
            '--capture=[Write a transcript of all packets.]:file:_files' \
            '--power-on[Power the adapter on where it is off.]' \
            '--json[Print one JSON document.]' \
            '--progress=[auto, bar, plain or none (default\: auto, a bar on a terminal and plain lines elsewhere).]:style:(auto bar plain none)' \
            '*-v[Log to stderr; twice with every packet.]' \
            '*--verbose[Log to stderr; twice with every packet.]' \
            '--log=[Add the log with every packet to a file.]:file:_files' \
            '-h[Show this help.]' \
            '--help[Show this help.]' \
            ':package:_files'
        ;;
    'dfu info')
        _arguments -s -S \
            '--key=[The public key (PEM) that must have signed the package.]:file:_files' \
            '--json[Print one JSON document.]' \
            '*-v[Show where each field stands, and long values whole.]' \
            '*--verbose[Show where each field stands, and long values whole.]' \
            '-h[Show this help.]' \
            '--help[Show this help.]' \
            ':package:_files'
        ;;
    'dfu scan')
        _arguments -s -S \
            '*--service=[Only devices that advertise this service. Repeat it for one of several.]:uuid: ' \
            '--name=[Only devices with such a name, as '\''Band*'\''.]:glob: ' \
            '--min-rssi=[Only devices that are heard at least so strong.]:dBm: ' \
            '--watch[Go on, and tell what changes.]' \
            '--profile=[What block-ack devices are known by here.]:file:_files' \
            '--adapter=[The Bluetooth adapter (default\: the first that is powered).]:hciN: ' \
            '--timeout=[The limit of the whole command.]:seconds: ' \
            '--scan-timeout=[How long to look for devices (default\: 10).]:seconds: ' \
            '--connect-retries=[How often connecting is tried again (default\: 4).]:n: ' \
            '--power-on[Power the adapter on where it is off.]' \
            '--json[Print one JSON document.]' \
            '--progress=[auto, bar, plain or none (default\: auto, a bar on a terminal and plain lines elsewhere).]:style:(auto bar plain none)' \
            '*-v[Log to stderr; twice with every packet.]' \
            '*--verbose[Log to stderr; twice with every packet.]' \
            '--log=[Add the log with every packet to a file.]:file:_files' \
            '-h[Show this help.]' \
            '--help[Show this help.]'
        ;;
    'dfu inspect')
        _arguments -s -S \
            '--profile=[What block-ack devices are known by here.]:file:_files' \
            '--adapter=[The Bluetooth adapter (default\: the first that is powered).]:hciN: ' \
            '--timeout=[The limit of the whole command.]:seconds: ' \
            '--scan-timeout=[How long to look for devices (default\: 10).]:seconds: ' \
            '--connect-retries=[How often connecting is tried again (default\: 4).]:n: ' \
            '--capture=[Write a transcript of all packets.]:file:_files' \
            '--power-on[Power the adapter on where it is off.]' \
            '--json[Print one JSON document.]' \
            '--progress=[auto, bar, plain or none (default\: auto, a bar on a terminal and plain lines elsewhere).]:style:(auto bar plain none)' \
            '*-v[Log to stderr; twice with every packet.]' \
            '*--verbose[Log to stderr; twice with every packet.]' \
            '--log=[Add the log with every packet to a file.]:file:_files' \
            '-h[Show this help.]' \
            '--help[Show this help.]' \
            ':id:(sim\:band sim\:secure)'
        ;;
    'dfu read')
        _arguments -s -S \
            '--text[Print the value as text.]' \
            '--adapter=[The Bluetooth adapter (default\: the first that is powered).]:hciN: ' \
            '--timeout=[The limit of the whole command.]:seconds: ' \
            '--scan-timeout=[How long to look for devices (default\: 10).]:seconds: ' \
            '--connect-retries=[How often connecting is tried again (default\: 4).]:n: ' \
            '--capture=[Write a transcript of all packets.]:file:_files' \
            '--power-on[Power the adapter on where it is off.]' \
            '--json[Print one JSON object a line on stdout, and nothing else there.]' \
            '--progress=[auto, bar, plain or none (default\: auto, a bar on a terminal and plain lines elsewhere).]:style:(auto bar plain none)' \
            '*-v[Log to stderr; twice with every packet.]' \
            '*--verbose[Log to stderr; twice with every packet.]' \
            '--log=[Add the log with every packet to a file.]:file:_files' \
            '-h[Show this help.]' \
            '--help[Show this help.]' \
            ':id:(sim\:band sim\:secure)' \
            ':characteristic: '
        ;;
    'dfu write')
        _arguments -s -S \
            '--with-response[Have the device confirm it (default\: where it can).]' \
            '--without-response[Write a command, which is not confirmed.]' \
            '--checksum[Add the block-ack checksum behind the bytes.]' \
            '--profile=[The profile whose checksum it is.]:file:_files' \
            '--reply=[Subscribe to this one first, and print the first value that it sends within 5 s.]:characteristic: ' \
            '--adapter=[The Bluetooth adapter (default\: the first that is powered).]:hciN: ' \
            '--timeout=[The limit of the whole command.]:seconds: ' \
            '--scan-timeout=[How long to look for devices (default\: 10).]:seconds: ' \
            '--connect-retries=[How often connecting is tried again (default\: 4).]:n: ' \
            '--capture=[Write a transcript of all packets.]:file:_files' \
            '--power-on[Power the adapter on where it is off.]' \
            '--json[Print one JSON object a line on stdout, and nothing else there.]' \
            '--progress=[auto, bar, plain or none (default\: auto, a bar on a terminal and plain lines elsewhere).]:style:(auto bar plain none)' \
            '*-v[Log to stderr; twice with every packet.]' \
            '*--verbose[Log to stderr; twice with every packet.]' \
            '--log=[Add the log with every packet to a file.]:file:_files' \
            '-h[Show this help.]' \
            '--help[Show this help.]' \
            ':id:(sim\:band sim\:secure)' \
            ':characteristic: ' \
            ':hex: '
        ;;
    'dfu notify')
        _arguments -s -S \
            '--count=[End after so many values.]:n: ' \
            '--adapter=[The Bluetooth adapter (default\: the first that is powered).]:hciN: ' \
            '--timeout=[The limit of the whole command.]:seconds: ' \
            '--scan-timeout=[How long to look for devices (default\: 10).]:seconds: ' \
            '--connect-retries=[How often connecting is tried again (default\: 4).]:n: ' \
            '--capture=[Write a transcript of all packets.]:file:_files' \
            '--power-on[Power the adapter on where it is off.]' \
            '--json[Print one JSON object a line on stdout, and nothing else there.]' \
            '--progress=[auto, bar, plain or none (default\: auto, a bar on a terminal and plain lines elsewhere).]:style:(auto bar plain none)' \
            '*-v[Log to stderr; twice with every packet.]' \
            '*--verbose[Log to stderr; twice with every packet.]' \
            '--log=[Add the log with every packet to a file.]:file:_files' \
            '-h[Show this help.]' \
            '--help[Show this help.]' \
            ':id:(sim\:band sim\:secure)' \
            ':characteristic: '
        ;;
    'dfu pair')
        _arguments -s -S \
            '--adapter=[The Bluetooth adapter (default\: the first that is powered).]:hciN: ' \
            '--timeout=[The limit of the whole command.]:seconds: ' \
            '--scan-timeout=[How long to look for devices (default\: 10).]:seconds: ' \
            '--connect-retries=[How often connecting is tried again (default\: 4).]:n: ' \
            '--power-on[Power the adapter on where it is off.]' \
            '--json[Print one JSON object a line on stdout, and nothing else there.]' \
            '--progress=[auto, bar, plain or none (default\: auto, a bar on a terminal and plain lines elsewhere).]:style:(auto bar plain none)' \
            '*-v[Log to stderr; twice with every packet.]' \
            '*--verbose[Log to stderr; twice with every packet.]' \
            '--log=[Add the log with every packet to a file.]:file:_files' \
            '-h[Show this help.]' \
            '--help[Show this help.]' \
            ':id:(sim\:band sim\:secure)'
        ;;
    'dfu forget')
        _arguments -s -S \
            '--adapter=[The Bluetooth adapter (default\: the first that is powered).]:hciN: ' \
            '--timeout=[The limit of the whole command.]:seconds: ' \
            '--scan-timeout=[How long to look for devices (default\: 10).]:seconds: ' \
            '--connect-retries=[How often connecting is tried again (default\: 4).]:n: ' \
            '--power-on[Power the adapter on where it is off.]' \
            '--json[Print one JSON object a line on stdout, and nothing else there.]' \
            '--progress=[auto, bar, plain or none (default\: auto, a bar on a terminal and plain lines elsewhere).]:style:(auto bar plain none)' \
            '*-v[Log to stderr; twice with every packet.]' \
            '*--verbose[Log to stderr; twice with every packet.]' \
            '--log=[Add the log with every packet to a file.]:file:_files' \
            '-h[Show this help.]' \
            '--help[Show this help.]' \
            ':id:(sim\:band sim\:secure)'
        ;;
    'dfu profile')
        _arguments -s -S \
            '-h[Show this help.]' \
            '--help[Show this help.]' \
            '1:subcommand:((show\:"Print a profile with every value that holds." check\:"Say whether a profile is right, and all that is wrong."))'
        ;;
    'dfu profile show')
        _arguments -s -S \
            '-h[Show this help.]' \
            '--help[Show this help.]' \
            '::file:_files'
        ;;
    'dfu profile check')
        _arguments -s -S \
            '-h[Show this help.]' \
            '--help[Show this help.]' \
            ':file:_files'
        ;;
    'dfu simulate')
        _arguments -s -S \
            '*--device=[A device in range (default\: sim\:band). Repeat it for several.]:spec:(sim\:band sim\:secure)' \
            '*--adapter=[An adapter (default\: hci0). Repeat it for several.]:hciN: ' \
            '--disconnect-delay=[How long after Disconnect a connection ends (default\: 2000, as in BlueZ).]:ms: ' \
            '--faults=[What goes wrong with adapters, BlueZ and the bus.]:file:_files' \
            '--radio=[The socket of an emulated radio to put the devices on, not a bus.]:file:_files' \
            '--json[Print one JSON object a line on stdout, and nothing else there.]' \
            '*-v[Tell on stderr what happens to the devices.]' \
            '*--verbose[Tell on stderr what happens to the devices.]' \
            '-h[Show this help.]' \
            '--help[Show this help.]' \
            '*:command: '
        ;;
    'dfu replay')
        _arguments -s -S \
            '--json[Print one JSON document.]' \
            '-h[Show this help.]' \
            '--help[Show this help.]' \
            ':capture:_files' \
            '::package:_files'
        ;;
    'dfu doctor')
        _arguments -s -S \
            '--adapter=[The Bluetooth adapter (default\: the first that is powered).]:hciN: ' \
            '--timeout=[The limit of the whole command.]:seconds: ' \
            '--json[Print one JSON document.]' \
            '-h[Show this help.]' \
            '--help[Show this help.]'
        ;;
    'dfu help')
        _arguments -s -S \
            '-h[Show this help.]' \
            '--help[Show this help.]' \
            '*:verb: '
        ;;
    'dfu completions')
        _arguments -s -S \
            '-h[Show this help.]' \
            '--help[Show this help.]' \
            ':shell:(bash zsh fish)'
        ;;
    esac
}
if [[ "$funcstack[1]" == "_dfu" ]]; then
    _dfu "$@"
else
    compdef _dfu dfu
fi
