#!/bin/sh
# Finds a system Chromium for the browser tests, or installs Debian's where this is root and apt is there.
# Anywhere else it says what to install and fails: the browser tests are never skipped.
set -eu

found() {
    for name in "${CHROMIUM:-}" chromium chromium-browser google-chrome google-chrome-stable; do
        [ -n "$name" ] && command -v "$name" >/dev/null 2>&1 && return 0
    done
    return 1
}

found && exit 0
if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1; then
    echo "Installing Chromium for the browser tests (apt) ..."
    export DEBIAN_FRONTEND=noninteractive
    apt-get update -q && apt-get install -q -y --no-install-recommends chromium fonts-dejavu-core
fi
found && exit 0
echo "The browser tests need Chromium. Install the package 'chromium' (or Google Chrome), or set CHROMIUM=/path/to/it." >&2
exit 1
