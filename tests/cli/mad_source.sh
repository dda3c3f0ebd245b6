#!/usr/bin/env bash
# The folder of the run's own: clones with submodules and credentials, copies, ../scripts, what stays of it.
. "$(dirname "$0")/../lib.sh"
command -v git >/dev/null || { skip "models from git" "git is not installed"; exit 0; }
export GIT_CONFIG_GLOBAL=$T/gitconfig GIT_CONFIG_NOSYSTEM=1
git config --file "$T/gitconfig" user.name t
git config --file "$T/gitconfig" user.email t@example.org
git config --file "$T/gitconfig" init.defaultBranch main
git config --file "$T/gitconfig" protocol.file.allow always
cd "$T" || exit 1
run() { "$PROFRIG" -q run --no-analyze --engine host -o "$T/runs" "$@"; }
dir() { tail -n 1 "$T/out"; }
out() { cat "$(dir)"/steps/*workload.out; }
why() { jq -r .reason "$(dir)/run.json"; }

git init -q part && echo inside >part/file && git -C part add . && git -C part commit -qm part
git init -q repo && cd repo && echo old >run.sh && git add . && git commit -qm one
printf 'pwd\ncat sub/file\ncat beside\ngit log --oneline | wc -l\nls -d ../scripts\necho "args: $*"\necho left >../left.txt\necho gone >gone.txt\necho "performance: 7 q"\n' >run.sh
git submodule --quiet add "file://$T/part" sub && git add . && git commit -qm two && cd ..
mkdir -p pkg/scripts/m && echo copied >pkg/scripts/m/beside && printf 'exec sh ./run.sh "$@"\n' >pkg/scripts/m/go.sh
cat >pkg/models.json <<-JSON
	[{"name": "cloned", "url": "file://$T/repo", "scripts": "scripts/m/go.sh", "args": "a 'b c'"},
	 {"name": "nowhere", "url": "file://$T/none", "scripts": "scripts/m/go.sh"},
	 {"name": "option", "url": "--upload-pack=touch $T/owned", "scripts": "scripts/m/go.sh"},
	 {"name": "leaky", "url": "https://me:sesame-url@127.0.0.1:1/x", "scripts": "scripts/m/go.sh"},
	 {"name": "private", "url": "http://127.0.0.1:PORT/repo", "cred": "MY-GIT", "scripts": "scripts/m/go.sh"},
	 {"name": "public", "url": "http://127.0.0.1:PORT/repo", "scripts": "scripts/m/go.sh"}]
JSON
echo '{"MY-GIT": {"username": "me", "password": "sesame-git"}}' >pkg/credential.json
cd pkg || exit 1

code "a model from git" 0 run cloned
like "runs in a folder of the run's own" "$(out)" "^$T/runs/[^/]*/work/run_directory"
like "with its submodules, the package's files over it, one commit, and ../scripts" "$(out | tr '\n' ' ')" "inside copied 1 ../scripts args: a b c"
is "the commit stands in run.json" "$(jq -r .git.commit "$(dir)/run.json")" "$(git -C "$T/repo" rev-parse HEAD)"
check "the folder goes behind the run" test ! -e "$(dir)/work/run_directory"
is "what the model wrote beside it stays" "$(cat "$(dir)/work/left.txt")" "left"
check "nothing is left in the package" sh -c "! ls '$T/pkg' | grep -E 'left|run_directory|runs'"
code "--keep-model-dir" 0 run --keep-model-dir cloned
is "keeps it" "$(cat "$(dir)/work/run_directory/gone.txt")" "gone"
code "the runs may lie among the copied files" 0 "$PROFRIG" -q run --no-analyze --engine host -o "$T/pkg/scripts/m/runs" cloned
code "plan tells of it and clones nothing" 0 "$PROFRIG" plan --engine host cloned
like "as text" "$(cat "$T/out")" "git clone of file://$T/repo.*the files of $T/pkg/scripts/m"
"$PROFRIG" -q plan --format sh --engine host -o "$T/by-hand" cloned >"$T/plan.sh"
code "as a script that does the same" 0 sh "$T/plan.sh"
like "with the same words" "$(cat "$T"/by-hand/*/steps/*workload.out | tr '\n' ' ')" "inside copied 1 ../scripts args: a b c"

code "a repository that is not there" 1 run nowhere
like "is the run's failure, with git's words" "$(why)" "cannot clone 'file://$T/none': fatal: .*steps/source.err"
is "in its phase" "$(jq -r .phase "$(dir)/run.json")" "source"
check "git's own words are kept" grep -q none "$(dir)/steps/source.err"
code "an address that would be an option" 3 run option
like "is refused" "$(cat "$T/err")" "model.url: '--upload-pack=.*' is no address"
check "and does nothing" test ! -e "$T/owned"
code "an address with a password" 3 run leaky
like "is refused" "$(cat "$T/err")" "model.url: holds a password"
check "and not repeated" sh -c "! grep -q sesame '$T/err'"

# A clone that hangs ends with the run.
mkdir "$T/slow"
printf '#!/bin/sh\ncase "$*" in *clone*) touch %s/cloning; sleep 300 ;; esac\n' "$T" >"$T/slow/git"
chmod +x "$T/slow/git"
PATH="$T/slow:$PATH" "$PROFRIG" -q run --no-analyze --engine host -o "$T/runs" cloned >"$T/out" 2>"$T/err" &
pid=$!
wait_for test -e "$T/cloning"
kill -INT $pid
SECONDS=0
wait $pid
is "an interrupt while git clones" "$?" 130
check "does not wait for git" test $SECONDS -lt 60
is "and is in run.json" "$(jq -r '.status + " " + .phase' "$(dir)/run.json")" "interrupted source"

# A server that asks for a name and a password.
backend=$(git --exec-path)/git-http-backend
if command -v python3 >/dev/null && [ -x "$backend" ]; then
	cat >"$T/server.py" <<-'PY'
		import base64, http.server, os, subprocess, sys
		root, backend, want = sys.argv[1], sys.argv[2], "Basic " + base64.b64encode(b"me:sesame-git").decode()
		class H(http.server.BaseHTTPRequestHandler):
		    def serve(self):
		        if self.headers.get("Authorization") != want:
		            self.send_response(401); self.send_header("WWW-Authenticate", 'Basic realm="r"'); self.send_header("Content-Length", "0"); self.end_headers(); return
		        path, _, query = self.path.partition("?")
		        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
		        env = dict(os.environ, GIT_PROJECT_ROOT=root, GIT_HTTP_EXPORT_ALL="1", PATH_INFO=path, QUERY_STRING=query, REQUEST_METHOD=self.command,
		                   CONTENT_TYPE=self.headers.get("Content-Type") or "", REMOTE_USER="me", HTTP_CONTENT_ENCODING=self.headers.get("Content-Encoding") or "",
		                   GIT_PROTOCOL=self.headers.get("Git-Protocol") or "")
		        head, _, rest = subprocess.run([backend], input=body, env=env, capture_output=True).stdout.partition(b"\r\n\r\n")
		        self.send_response(200)
		        for line in head.decode().split("\r\n"):
		            k, _, v = line.partition(": "); self.send_header(k, v)
		        self.send_header("Content-Length", str(len(rest))); self.end_headers(); self.wfile.write(rest)
		    do_GET = do_POST = serve
		    def log_message(self, *a): pass
		s = http.server.ThreadingHTTPServer(("127.0.0.1", 0), H)
		print(s.server_port, flush=True)
		s.serve_forever()
	PY
	git config --file "$T/gitconfig" safe.directory '*'
	python3 "$T/server.py" "$T" "$backend" >"$T/port" 2>"$T/server.err" &
	server=$!
	at_end "kill $server 2>/dev/null"
	wait_for test -s "$T/port"
	sed -i "s/PORT/$(cat "$T/port")/" models.json
	# A git that notes what it was started with, then is git.
	mkdir "$T/bin"
	printf '#!/bin/sh\nprintf "%%s " "$@" >>"%s/argv"\nexec %s "$@"\n' "$T" "$(command -v git)" >"$T/bin/git"
	chmod +x "$T/bin/git"
	code "a server that wants a password gets that of credential.json" 0 env PATH="$T/bin:$PATH" "$PROFRIG" -q run --no-analyze --engine host -o "$T/runs" \
		--set 'model.command=[sh, -c, "echo performance: 1 q; env; cat .git/config"]' --keep-model-dir private
	check "its words never stand in an argv" sh -c "grep -q clone '$T/argv' && ! grep -q sesame '$T/argv'"
	check "nor in the clone's configuration" sh -c "! grep -q sesame '$(dir)/work/run_directory/.git/config'"
	check "nor in anything else that is kept" sh -c "! grep -rq sesame '$(dir)' --exclude='*workload.out'"
	like "the workload has it as a variable" "$(out)" "MY_GIT_PASSWORD=sesame-git"
	code "without one it fails and asks nobody" 1 timeout 60 "$PROFRIG" -q run --no-analyze --engine host -o "$T/runs" public
	like "with git's words" "$(why)" "cannot clone 'http://127.0.0.1:.*could not read Username|terminal prompts disabled|Authentication failed"
	sed -i 's/sesame-git/wrong/' credential.json
	code "with a wrong one it fails" 1 timeout 60 "$PROFRIG" -q run --no-analyze --engine host -o "$T/runs" private
	like "with git's words" "$(why)" "Authentication failed"
else
	skip "credentials of a server" "python3 or git-http-backend is not installed"
fi

# The same for a profrig.yaml.
mkdir "$T/own" && cd "$T/own" || exit 1
echo hello >secret.txt
cat >profrig.yaml <<-YAML
	model: {name: own, url: "file://$T/repo", command: [sh, -c, 'cat sub/file; echo \$TOKEN']}
	secrets: {TOKEN: {from_file: secret.txt}, OTHER: {from_file: ../pkg/credential.json, key: [MY-GIT, username]}}
YAML
code "a YAML model may name a repository, and secrets in files" 0 run .
is "and has both" "$(out | tr '\n' ' ')" "inside hello "
sed -i 's/secret.txt/none.txt/; s/username/nothing/' profrig.yaml
code "secrets that are nowhere" 3 run .
like "are reported" "$(cat "$T/err")" "profrig.yaml:2: secrets.TOKEN: .*none.txt"
like "both" "$(cat "$T/err")" "secrets.OTHER: '.*credential.json' has no text at 'nothing'"
