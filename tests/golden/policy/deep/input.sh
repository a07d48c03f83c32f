printf "%0100000d" 0 | tr 0 "["
