cat <<'Y'
partitions:
  a: {}
classes:
  a: {name: []}
  b: {name: ""}
  c: {name: {a: b}}
  d: {name: ["*x*", "a\nb"]}
  e: {name: ["*x*", y]}
  f: {name: ["*x*", y], default: on}
Y
printf '  g: {name: [%01020d, abc]}\n' 0
