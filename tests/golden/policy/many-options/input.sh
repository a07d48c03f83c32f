echo sources:; echo "  a:"; echo "    adapter: static"; for i in $(seq 25); do echo "    key$i: 1"; done
