echo partitions:; for i in $(seq 30); do echo "  p$i: {pue: 0.$i}"; done
