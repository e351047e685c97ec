# Completions of dfu for bash: put them into /etc/bash_completion.d, or
# source <(dfu completions bash)
_dfu() {
    local line="${COMP_LINE:0:COMP_POINT}" command=dfu current="" option="" candidates="" word
    local -a words=()
    read -ra words <<<"$line"
    if [[ $line != *[[:space:]] ]]; then
        current="${words[-1]}"
        unset 'words[-1]'
    fi
    for word in "${words[@]:1}"; do
        case "$command $word" in
        "dfu flash" | "dfu check" | "dfu info" | "dfu scan" | "dfu inspect" | "dfu read" | "dfu write" | "dfu notify" | "dfu pair" | "dfu forget" | "dfu profile" | "dfu profile show" | "dfu profile check" | "dfu simulate" | "dfu replay" | "dfu doctor" | "dfu help" | "dfu completions") command+=" $word" ;;
        esac
    done
    if [[ $current == --*=* ]]; then
        option="${current%%=*}"
        current="${current#*=}"
    elif [[ ${words[-1]} == -* ]]; then
        option="${words[-1]}"
    fi
    COMPREPLY=()
    case "$command $option" in
    "dfu flash --device") candidates="sim:band sim:secure" ;;
    "dfu flash --protocol") candidates="auto secure block-ack" ;;
    "dfu flash --profile") compopt -o default ;;
    "dfu flash --skip-check") candidates="battery version hash size hardware" ;;
    "dfu flash --only") candidates="application bootloader softdevice softdevice-bootloader" ;;
    "dfu flash --firmware-version") : ;;
    "dfu flash --crc") : ;;
    "dfu flash --key") compopt -o default ;;
    "dfu flash --mtu") : ;;
    "dfu flash --gap") candidates="adaptive" ;;
    "dfu flash --prn") : ;;
    "dfu flash --adapter") : ;;
    "dfu flash --timeout") : ;;
    "dfu flash --scan-timeout") : ;;
    "dfu flash --connect-retries") : ;;
    "dfu flash --capture") compopt -o default ;;
    "dfu flash --jobs") : ;;
    "dfu flash --progress") candidates="auto bar plain none" ;;
    "dfu flash --log") compopt -o default ;;
    "dfu check --device") candidates="sim:band sim:secure" ;;
    "dfu check --protocol") candidates="auto secure block-ack" ;;
    "dfu check --profile") compopt -o default ;;
    "dfu check --skip-check") candidates="battery version hash size hardware" ;;
    "dfu check --only") candidates="application bootloader softdevice softdevice-bootloader" ;;
    "dfu check --firmware-version") : ;;
    "dfu check --crc") : ;;
    "dfu check --key") compopt -o default ;;
    "dfu check --adapter") : ;;
    "dfu check --timeout") : ;;
    "dfu check --scan-timeout") : ;;
    "dfu check --connect-retries") : ;;
    "dfu check --capture") compopt -o default ;;
    "dfu check --progress") candidates="auto bar plain none" ;;
    "dfu check --log") compopt -o default ;;
    "dfu info --key") compopt -o default ;;
    "dfu scan --service") : ;;
    "dfu scan --name") : ;;
    "dfu scan --min-rssi") : ;;
    "dfu scan --profile") compopt -o default ;;
    "dfu scan --adapter") : ;;
    "dfu scan --timeout") : ;;
    "dfu scan --scan-timeout") : ;;
    "dfu scan --connect-retries") : ;;
    "dfu scan --progress") candidates="auto bar plain none" ;;
    "dfu scan --log") compopt -o default ;;
    "dfu inspect --profile") compopt -o default ;;
    "dfu inspect --adapter") : ;;
    "dfu inspect --timeout") : ;;
    "dfu inspect --scan-timeout") : ;;
    "dfu inspect --connect-retries") : ;;
    "dfu inspect --capture") compopt -o default ;;
    "dfu inspect --progress") candidates="auto bar plain none" ;;
    "dfu inspect --log") compopt -o default ;;
    "dfu read --adapter") : ;;
    "dfu read --timeout") : ;;
    "dfu read --scan-timeout") : ;;
    "dfu read --connect-retries") : ;;
    "dfu read --capture") compopt -o default ;;
    "dfu read --progress") candidates="auto bar plain none" ;;
    "dfu read --log") compopt -o default ;;
    "dfu write --profile") compopt -o default ;;
    "dfu write --reply") : ;;
    "dfu write --adapter") : ;;
    "dfu write --timeout") : ;;
    "dfu write --scan-timeout") : ;;
    "dfu write --connect-retries") : ;;
    "dfu write --capture") compopt -o default ;;
    "dfu write --progress") candidates="auto bar plain none" ;;
    "dfu write --log") compopt -o default ;;
    "dfu notify --count") : ;;
    "dfu notify --adapter") : ;;
    "dfu notify --timeout") : ;;
    "dfu notify --scan-timeout") : ;;
    "dfu notify --connect-retries") : ;;
    "dfu notify --capture") compopt -o default ;;
    "dfu notify --progress") candidates="auto bar plain none" ;;
    "dfu notify --log") compopt -o default ;;
    "dfu pair --adapter") : ;;
    "dfu pair --timeout") : ;;
    "dfu pair --scan-timeout") : ;;
    "dfu pair --connect-retries") : ;;
    "dfu pair --progress") candidates="auto bar plain none" ;;
    "dfu pair --log") compopt -o default ;;
    "dfu forget --adapter") : ;;
    "dfu forget --timeout") : ;;
    "dfu forget --scan-timeout") : ;;
    "dfu forget --connect-retries") : ;;
    "dfu forget --progress") candidates="auto bar plain none" ;;
    "dfu forget --log") compopt -o default ;;
    "dfu simulate --device") candidates="sim:band sim:secure" ;;
    "dfu simulate --adapter") : ;;
    "dfu simulate --disconnect-delay") : ;;
    "dfu simulate --faults") compopt -o default ;;
    "dfu simulate --radio") compopt -o default ;;
    "dfu doctor --adapter") : ;;
    "dfu doctor --timeout") : ;;
    *)
        case "$command" in
        "dfu")
            if [[ $current == -* ]]; then
                candidates="--version -h --help"
            else
                candidates="flash check info scan inspect read write notify pair forget profile simulate replay doctor help completions"
                :
            fi
            ;;
        "dfu flash")
            if [[ $current == -* ]]; then
                candidates="--device --protocol --profile --allow-downgrade --skip-check --verify --no-verify --only --firmware-version --crc --no-crc --key --mtu --gap --prn --adapter --timeout --scan-timeout --connect-retries --capture --power-on --jobs --json --progress -v --verbose --log -h --help"
            else
                candidates=""
                compopt -o default
            fi
            ;;
        "dfu check")
            if [[ $current == -* ]]; then
                candidates="--device --protocol --profile --allow-downgrade --skip-check --only --firmware-version --crc --no-crc --key --adapter --timeout --scan-timeout --connect-retries --capture --power-on --json --progress -v --verbose --log -h --help"
            else
                candidates=""
                compopt -o default
            fi
            ;;
        "dfu info")
            if [[ $current == -* ]]; then
                candidates="--key --json -v --verbose -h --help"
            else
                candidates=""
                compopt -o default
            fi
            ;;
        "dfu scan")
            if [[ $current == -* ]]; then
                candidates="--service --name --min-rssi --watch --profile --adapter --timeout --scan-timeout --connect-retries --power-on --json --progress -v --verbose --log -h --help"
            else
                candidates=""
                :
            fi
            ;;
        "dfu inspect")
            if [[ $current == -* ]]; then
                candidates="--profile --adapter --timeout --scan-timeout --connect-retries --capture --power-on --json --progress -v --verbose --log -h --help"
            else
                candidates="sim:band sim:secure"
                :
            fi
            ;;
        "dfu read")
            if [[ $current == -* ]]; then
                candidates="--text --adapter --timeout --scan-timeout --connect-retries --capture --power-on --json --progress -v --verbose --log -h --help"
            else
                candidates="sim:band sim:secure"
                :
            fi
            ;;
        "dfu write")
            if [[ $current == -* ]]; then
                candidates="--with-response --without-response --checksum --profile --reply --adapter --timeout --scan-timeout --connect-retries --capture --power-on --json --progress -v --verbose --log -h --help"
            else
                candidates="sim:band sim:secure"
                :
            fi
            ;;
        "dfu notify")
            if [[ $current == -* ]]; then
                candidates="--count --adapter --timeout --scan-timeout --connect-retries --capture --power-on --json --progress -v --verbose --log -h --help"
            else
                candidates="sim:band sim:secure"
                :
            fi
            ;;
        "dfu pair")
            if [[ $current == -* ]]; then
                candidates="--adapter --timeout --scan-timeout --connect-retries --power-on --json --progress -v --verbose --log -h --help"
            else
                candidates="sim:band sim:secure"
                :
            fi
            ;;
        "dfu forget")
            if [[ $current == -* ]]; then
                candidates="--adapter --timeout --scan-timeout --connect-retries --power-on --json --progress -v --verbose --log -h --help"
            else
                candidates="sim:band sim:secure"
                :
            fi
            ;;
        "dfu profile")
            if [[ $current == -* ]]; then
                candidates="-h --help"
            else
                candidates="show check"
                :
            fi
            ;;
        "dfu profile show")
            if [[ $current == -* ]]; then
                candidates="-h --help"
            else
                candidates=""
                compopt -o default
            fi
            ;;
        "dfu profile check")
            if [[ $current == -* ]]; then
                candidates="-h --help"
            else
                candidates=""
                compopt -o default
            fi
            ;;
        "dfu simulate")
            if [[ $current == -* ]]; then
                candidates="--device --adapter --disconnect-delay --faults --radio --json -v --verbose -h --help"
            else
                candidates=""
                :
            fi
            ;;
        "dfu replay")
            if [[ $current == -* ]]; then
                candidates="--json -h --help"
            else
                candidates=""
                compopt -o default
            fi
            ;;
        "dfu doctor")
            if [[ $current == -* ]]; then
                candidates="--adapter --timeout --json -h --help"
            else
                candidates=""
                :
            fi
            ;;
        "dfu help")
            if [[ $current == -* ]]; then
                candidates="-h --help"
            else
                candidates=""
                :
            fi
            ;;
        "dfu completions")
            if [[ $current == -* ]]; then
                candidates="-h --help"
            else
                candidates="bash zsh fish"
                :
            fi
            ;;
        esac
        ;;
    esac
    mapfile -t COMPREPLY < <(compgen -W "$candidates" -- "$current")
    # Readline takes what stands behind the last colon for the word.
    if [[ $current == *:* && $COMP_WORDBREAKS == *:* ]]; then
        COMPREPLY=("${COMPREPLY[@]#"${current%"${current##*:}"}"}")
    fi
}
complete -F _dfu dfu
