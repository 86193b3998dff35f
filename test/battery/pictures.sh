#!/usr/bin/env bash
# Downloads source packages of image libraries. The corpus tests read their pictures. Needs apt, but no root.
set -euo pipefail
readonly target=${1:-${TEST_PICTURES_DIR:-$HOME/.cache/model-inference-gateway/pictures}}
readonly packages=(pillow libpng1.6 libheif libjpeg-turbo giflib exiv2 golang-golang-x-image golang-github-rwcarlsen-goexif)

mkdir -p "$target/lists/partial"
cd "$target"
if compgen -G "pillow_*.orig.tar.*" >/dev/null; then
  exit 0
fi
# Uses the machine's own package sources, changed to deliver source packages.
for list in /etc/apt/sources.list.d/*.sources; do
  if [[ -f $list ]]; then sed 's/^Types:.*/Types: deb-src/' "$list" >"sources-$(basename "$list")"; fi
done
if [[ -f /etc/apt/sources.list ]]; then sed -n 's/^deb /deb-src /p' /etc/apt/sources.list >sources-main.list; fi
mkdir -p parts && mv sources-* parts/
apt=(apt-get -qq -o "Dir::Etc::sourcelist=/dev/null" -o "Dir::Etc::sourceparts=$PWD/parts"
  -o "Dir::State::lists=$PWD/lists" -o "Dir::Cache=$PWD" -o "APT::Sandbox::User=$(id -un)")
"${apt[@]}" update
for package in "${packages[@]}"; do
  "${apt[@]}" source --tar-only "$package" || echo "warning: the source of ${package} is not available"
done
rm -rf lists parts ./*.bin
compgen -G "*.orig.tar.*" >/dev/null
