#!/bin/bash
# Applies a changed haproxy.cfg without an outage. Runs in the container of the balancer; the image has no client for sockets.
set -eu
haproxy -c -f /usr/local/etc/haproxy/haproxy.cfg
exec 3<> /dev/tcp/127.0.0.1/9999
echo 'show servers state' >&3
cat <&3 > /tmp/servers
kill -USR2 1
