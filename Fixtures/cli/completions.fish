# Completions of dfu for fish: put them into ~/.config/fish/completions/dfu.fish, or
# dfu completions fish | source
function __dfu_at
    set -l path dfu
    for word in (commandline -opc)[2..]
        switch "$path $word"
            case 'dfu flash' 'dfu info' 'dfu profile' 'dfu profile show' 'dfu profile check' 'dfu simulate' 'dfu help' 'dfu completions'
                set path "$path $word"
        end
    end
    test "$path" = "$argv[1]"
end
complete -c dfu -f
complete -c dfu -n '__dfu_at "dfu"' -a flash -d 'Update the firmware of one or several devices.'
complete -c dfu -n '__dfu_at "dfu"' -a info -d 'Show what a package holds, and whether it is sound.'
complete -c dfu -n '__dfu_at "dfu"' -a profile -d 'Show or check a device profile.'
complete -c dfu -n '__dfu_at "dfu"' -a simulate -d 'Put simulated devices on a bus, for this program and others.'
complete -c dfu -n '__dfu_at "dfu"' -a help -d 'Show how a verb is used.'
complete -c dfu -n '__dfu_at "dfu"' -a completions -d 'Print the completions for a shell.'
complete -c dfu -n '__dfu_at "dfu"' -l version -d 'Show the version.'
complete -c dfu -n '__dfu_at "dfu"' -s h -d 'Show this help.'
complete -c dfu -n '__dfu_at "dfu"' -l help -d 'Show this help.'
complete -c dfu -n '__dfu_at "dfu flash"' -F
complete -c dfu -n '__dfu_at "dfu flash"' -l device -x -a 'sim:band' -d 'The device. Repeat it for several.'
complete -c dfu -n '__dfu_at "dfu flash"' -l protocol -x -a 'auto block-ack' -d 'auto, secure, legacy, smp or block-ack (default: auto). This version has block-ack.'
complete -c dfu -n '__dfu_at "dfu flash"' -l profile -r -F -d 'What the device\'s kind differs in.'
complete -c dfu -n '__dfu_at "dfu flash"' -l allow-downgrade -d 'Let the device take an older or the same version.'
complete -c dfu -n '__dfu_at "dfu flash"' -l skip-check -x -a 'battery version hash size hardware' -d 'Go on without a check: battery, version, hash, size or hardware.'
complete -c dfu -n '__dfu_at "dfu flash"' -l verify -d 'Look whether the new firmware runs (default: where the device can tell).'
complete -c dfu -n '__dfu_at "dfu flash"' -l no-verify -d 'Look whether the new firmware runs (default: where the device can tell).'
complete -c dfu -n '__dfu_at "dfu flash"' -l only -x -a 'application' -d 'Send this part alone: application, bootloader, softdevice or softdevice-bootloader (app, bl, sd for short).'
complete -c dfu -n '__dfu_at "dfu flash"' -l firmware-version -x -d 'The version to announce, in place of the package\'s.'
complete -c dfu -n '__dfu_at "dfu flash"' -l crc -x -d 'The image\'s CRC-32, in place of the one in its name.'
complete -c dfu -n '__dfu_at "dfu flash"' -l no-crc -d 'Do not compare the image with a stated CRC-32.'
complete -c dfu -n '__dfu_at "dfu flash"' -l mtu -x -d 'Send no packet longer than n - 3 bytes.'
complete -c dfu -n '__dfu_at "dfu flash"' -l gap -x -a 'adaptive' -d 'The pause between packets, or \'adaptive\' (default: the profile\'s).'
complete -c dfu -n '__dfu_at "dfu flash"' -l adapter -x -d 'The Bluetooth adapter (default: the first that is powered).'
complete -c dfu -n '__dfu_at "dfu flash"' -l timeout -x -d 'The limit of the whole command.'
complete -c dfu -n '__dfu_at "dfu flash"' -l scan-timeout -x -d 'How long to look for devices (default: 10).'
complete -c dfu -n '__dfu_at "dfu flash"' -l connect-retries -x -d 'How often connecting is tried again (default: 4).'
complete -c dfu -n '__dfu_at "dfu flash"' -l power-on -d 'Power the adapter on where it is off.'
complete -c dfu -n '__dfu_at "dfu flash"' -l jobs -x -d 'How many devices are updated at once (default: 1).'
complete -c dfu -n '__dfu_at "dfu flash"' -l json -d 'Print one JSON object a line on stdout, and nothing else there.'
complete -c dfu -n '__dfu_at "dfu flash"' -l progress -x -a 'auto bar plain none' -d 'auto, bar, plain or none (default: auto, a bar on a terminal and plain lines elsewhere).'
complete -c dfu -n '__dfu_at "dfu flash"' -s v -d 'Log to stderr; twice with every packet.'
complete -c dfu -n '__dfu_at "dfu flash"' -l verbose -d 'Log to stderr; twice with every packet.'
complete -c dfu -n '__dfu_at "dfu flash"' -l log -r -F -d 'Add the log with every packet to a file.'
complete -c dfu -n '__dfu_at "dfu flash"' -s h -d 'Show this help.'
complete -c dfu -n '__dfu_at "dfu flash"' -l help -d 'Show this help.'
complete -c dfu -n '__dfu_at "dfu info"' -F
complete -c dfu -n '__dfu_at "dfu info"' -l json -d 'Print one JSON document.'
complete -c dfu -n '__dfu_at "dfu info"' -s v -d 'Show where each field stands, and long values whole.'
complete -c dfu -n '__dfu_at "dfu info"' -l verbose -d 'Show where each field stands, and long values whole.'
complete -c dfu -n '__dfu_at "dfu info"' -s h -d 'Show this help.'
complete -c dfu -n '__dfu_at "dfu info"' -l help -d 'Show this help.'
complete -c dfu -n '__dfu_at "dfu profile"' -a show -d 'Print a profile with every value that holds.'
complete -c dfu -n '__dfu_at "dfu profile"' -a check -d 'Say whether a profile is right, and all that is wrong.'
complete -c dfu -n '__dfu_at "dfu profile"' -s h -d 'Show this help.'
complete -c dfu -n '__dfu_at "dfu profile"' -l help -d 'Show this help.'
complete -c dfu -n '__dfu_at "dfu profile show"' -F
complete -c dfu -n '__dfu_at "dfu profile show"' -s h -d 'Show this help.'
complete -c dfu -n '__dfu_at "dfu profile show"' -l help -d 'Show this help.'
complete -c dfu -n '__dfu_at "dfu profile check"' -F
complete -c dfu -n '__dfu_at "dfu profile check"' -s h -d 'Show this help.'
complete -c dfu -n '__dfu_at "dfu profile check"' -l help -d 'Show this help.'
complete -c dfu -n '__dfu_at "dfu simulate"' -l device -x -a 'sim:band' -d 'A device in range (default: sim:band). Repeat it for several.'
complete -c dfu -n '__dfu_at "dfu simulate"' -l adapter -x -d 'An adapter (default: hci0). Repeat it for several.'
complete -c dfu -n '__dfu_at "dfu simulate"' -l disconnect-delay -x -d 'How long after Disconnect a connection ends (default: 2000, as in BlueZ).'
complete -c dfu -n '__dfu_at "dfu simulate"' -l faults -r -F -d 'What goes wrong with adapters, BlueZ and the bus.'
complete -c dfu -n '__dfu_at "dfu simulate"' -l json -d 'Print one JSON object a line on stdout, and nothing else there.'
complete -c dfu -n '__dfu_at "dfu simulate"' -s v -d 'Tell on stderr what happens to the devices.'
complete -c dfu -n '__dfu_at "dfu simulate"' -l verbose -d 'Tell on stderr what happens to the devices.'
complete -c dfu -n '__dfu_at "dfu simulate"' -s h -d 'Show this help.'
complete -c dfu -n '__dfu_at "dfu simulate"' -l help -d 'Show this help.'
complete -c dfu -n '__dfu_at "dfu help"' -s h -d 'Show this help.'
complete -c dfu -n '__dfu_at "dfu help"' -l help -d 'Show this help.'
complete -c dfu -n '__dfu_at "dfu completions"' -a 'bash zsh fish'
complete -c dfu -n '__dfu_at "dfu completions"' -s h -d 'Show this help.'
complete -c dfu -n '__dfu_at "dfu completions"' -l help -d 'Show this help.'
