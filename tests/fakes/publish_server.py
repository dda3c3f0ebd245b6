#!/usr/bin/env python3
"""A server that takes results badly. publish_server.py LOG: prints its port; each request is a line of JSON in LOG (method,
path, authorization, type, body). The first part of the path says what it does:
/status/N[/TEXT]  answers N with TEXT      /slow  never answers      /cut  breaks off within its answer
/moved  redirects to /taken                /html  200 and a page     /taken  204"""
import http.server
import json
import sys
import threading
import time
import urllib.parse

log = open(sys.argv[1], "a", buffering=1)
lock = threading.Lock()


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def answer(self, status, text="", head=()):
        body = text.encode()
        self.send_response(status)
        for name, value in head:
            self.send_header(name, value)
        if status != 204:
            self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if status != 204:
            self.wfile.write(body)

    def take(self):
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        with lock:
            log.write(json.dumps({"method": self.command, "path": self.path, "auth": self.headers.get("Authorization"),
                                  "type": self.headers.get("Content-Type"), "body": body.decode()}) + "\n")
        parts = urllib.parse.urlsplit(self.path).path.split("/")
        if parts[1] == "status":
            text = urllib.parse.unquote(parts[3]) if len(parts) > 3 and parts[3] not in ("write", "metrics") else ""
            self.answer(int(parts[2]), text)
        elif parts[1] == "slow":
            time.sleep(60)
        elif parts[1] == "cut":
            self.wfile.write(b"HTTP/1.1 500 No\r\nContent-Length: 100\r\n\r\nhalf")
            self.close_connection = True
        elif parts[1] == "moved":
            self.answer(307, head=[("Location", "/taken/write")])
        elif parts[1] == "html":
            self.answer(200, "<html>Sign in</html>")
        else:
            self.answer(204)

    do_PUT = do_POST = do_GET = take

    def log_message(self, *words):
        pass


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
server.daemon_threads = True
print(server.server_port, flush=True)
server.serve_forever()
