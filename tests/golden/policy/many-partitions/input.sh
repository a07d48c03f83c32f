echo partitions:; for i in $(seq 257); do echo "  p$i: {}"; done
