#!/bin/sh
# Tests the package in a container in which systemd runs. Creates the file `passed` at the end. See xtask/src/dist/check.rs.
set -eu
export DEBIAN_FRONTEND=noninteractive
export CREATOR_API_CONFIG=/etc/creator-api/creator-api.toml
url=http://127.0.0.1:8080

fail() {
	echo "FAILED: $*"
	journalctl --no-pager --unit 'creator-api*' | tail -n 40
	exit 1
}
is() { # NAME EXPECTED FOUND
	[ "$2" = "$3" ] || fail "$1: expected $2, found $3"
	echo "ok: $1: $3"
}
state() { systemctl is-active "$1" || true; }
status() { curl --silent --max-time 30 --output /check/body --write-out '%{http_code}' --header "Authorization: Bearer $key" "$@" || true; }
main_pid() { systemctl show --property=MainPID --value creator-api.service; }

echo "== install"
dpkg --install old.deb
for unit in creator-api.socket creator-api.service creator-api-backup.timer; do
	is "$unit" active "$(state $unit)"
	is "$unit at boot" enabled "$(systemctl is-enabled $unit)"
done
is "installed units" 5 "$(ls /usr/lib/systemd/system/creator-api* | wc -l)"
is "installed documents" 6 "$(cd /usr/share/doc/creator-api && ls README.md OPERATIONS.md RUNBOOK.md alerts.yaml alerts_test.yaml grafana.json | wc -l)"
is creator-api-worker.service inactive "$(state creator-api-worker.service)"
is "creator-api-worker.service at boot" disabled "$(systemctl is-enabled creator-api-worker.service || true)"
is "user of the server" creator-api "$(ps -o user:32= -p "$(main_pid)" | tr -d ' ')"
for unit in creator-api.socket creator-api.service creator-api-worker.service creator-api-backup.service creator-api-backup.timer; do
	SYSTEMD_LOG_LEVEL=warning systemd-analyze verify --man=no /usr/lib/systemd/system/$unit || fail "systemd-analyze verify $unit"
done
for unit in creator-api.service creator-api-worker.service creator-api-backup.service; do
	systemd-analyze security --offline=true --threshold=30 /usr/lib/systemd/system/$unit >exposure || fail "systemd-analyze security $unit"
	tail -n 1 exposure
done

echo "== first call"
curl --silent --fail --max-time 30 $url/readyz || fail "the server is not ready"
creator-api health
creator-api workspaces create --key acme --name Acme --owner-email owner@acme.example
key=$(creator-api keys create --workspace acme --name check --scope read:courses,write:students --per-minute 10000000 --per-day 100000000)
is "GET /api/v1/courses" 200 "$(status $url/api/v1/courses)"
# The commands above ran as root. The files that they created must not block the server.
is "POST /api/v1/students" 201 "$(status --json '{"email": "ada@example.com"}' $url/api/v1/students)"

echo "== upgrade under load"
rm -f stop results.*
client() {
	while [ ! -e stop ]; do
		curl --silent --show-error --max-time 60 --output /dev/null --write-out '%{http_code} %{time_total}\n' \
			--header "Authorization: Bearer $key" $url/api/v1/courses
	done >"results.$1" 2>&1
}
for number in 1 2 3 4 5 6 7 8; do
	client $number &
	clients="${clients:-} $!"
done
sleep 2
before=$(main_pid)
socket=$(systemctl show --property=ActiveEnterTimestampMonotonic --value creator-api.socket)
dpkg --install new.deb
sleep 3
touch stop
wait $clients
cat results.* >results
[ "$(main_pid)" != "$before" ] || fail "the upgrade did not restart the server"
is "socket, not restarted" "$socket" "$(systemctl show --property=ActiveEnterTimestampMonotonic --value creator-api.socket)"
is "failed requests of $(wc -l <results)" 0 "$(grep --count --invert-match '^200 ' results || true)"
echo "slowest request: $(sort -k 2 -n results | tail -n 1 | cut -d ' ' -f 2) s"

echo "== secrets"
mkdir -p /etc/credstore && chmod 0700 /etc/credstore
mv /var/lib/creator-api/master.key /etc/credstore/creator-api.master_key
systemctl restart creator-api.service
is "GET /api/v1/courses with the key in a credential" 200 "$(status $url/api/v1/courses)"
[ ! -e /var/lib/creator-api/master.key ] || fail "a new key was created"
creator-api health --listen 127.0.0.1:8080
CREDENTIALS_DIRECTORY=/etc/credstore creator-api config check | grep '^master_key'

echo "== worker"
systemctl start creator-api-worker.service
is creator-api-worker.service active "$(state creator-api-worker.service)"
is "user of the worker" creator-api "$(ps -o user:32= -p "$(systemctl show --property=MainPID --value creator-api-worker.service)" | tr -d ' ')"
systemctl stop creator-api-worker.service

echo "== backup"
is "service of the timer" creator-api-backup.service "$(systemctl show --property=Unit --value creator-api-backup.timer)"
systemctl start creator-api-backup.service || fail "the backup failed"
backup=$(echo /var/lib/creator-api-backup/creator-api-*.db)
mkdir restored
CREDENTIALS_DIRECTORY=/etc/credstore creator-api restore --data-dir restored "$backup"

echo "== restart after a crash"
before=$(main_pid)
kill -s KILL "$before"
is "GET /api/v1/courses" 200 "$(status $url/api/v1/courses)"
[ "$(main_pid)" != "$before" ] || fail "the server was not restarted"

echo "== remove"
dpkg --remove creator-api
is "GET /readyz" 000 "$(status $url/readyz)"
[ ! -e /usr/bin/creator-api ] || fail "the program is still installed"
[ -z "$(ls /usr/lib/systemd/system/creator-api* 2>/dev/null)" ] || fail "units are still installed"
[ -e /etc/creator-api/creator-api.toml ] || fail "the configuration was removed"

echo "== purge"
dpkg --purge creator-api
[ ! -e /etc/creator-api ] || fail "the configuration was not removed"
[ -z "$(find /etc/systemd /var/lib/systemd/deb-systemd-helper* -name 'creator-api*')" ] || fail "links of units were not removed"
[ -e "$backup" ] && [ -n "$(ls /var/lib/creator-api/)" ] || fail "data was removed"
touch passed
