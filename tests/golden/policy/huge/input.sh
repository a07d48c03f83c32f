head -c 2097153 /dev/zero | tr "\0" "#"
