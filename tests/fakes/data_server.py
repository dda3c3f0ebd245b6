#!/usr/bin/env python3
"""A web server and an S3 for tests, with faults: data_server.py DIR PORTFILE LOG

Files of DIR are served with Range, If-Range and ETag. The first part of a path says what goes wrong:

    /file/NAME          nothing
    /cut/N/NAME         every answer breaks off after N bytes of its body
    /cutonce/N/NAME     the first answer to GET does
    /change/N/NAME      the first answer breaks off after N bytes, then the file is another one
    /short/NAME         says to be 10 bytes longer than it is
    /norange/NAME       knows no Range
    /bare/NAME          tells neither ETag nor Last-Modified
    /fail/K/NAME        status 500 for the first K requests to GET
    /nohead/NAME        refuses HEAD
    /slow/MS/NAME       so long between blocks of 4096 bytes
    /redirect/NAME      leads to /file/NAME
    /loop/NAME          leads to itself
    /user/NAME          wants me:hunter2-http
    /bearer/NAME        wants the token hunter2-bearer
    /s3/BUCKET/KEY      S3: objects are the files of DIR/BUCKET; the signature is verified here, from the description of
                        AWS Signature Version 4 alone; listings have two objects a page. Words in a key: cut, as cutonce
                        with 5000; far, 0.2 s until the answer begins; slow, 0.1 s a block; gone, the first answer to GET
                        is that there is none

LOG gets a line for each request: METHOD path range=… if-range=… status, and of objects that are far away how many
were asked for at that time.
"""
import base64
import hashlib
import hmac
import os
import sys
import threading
import time
import urllib.parse
from datetime import datetime, timezone
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from xml.sax.saxutils import escape

ROOT, PORTFILE, LOG = sys.argv[1:4]
ACCESS, SECRET, REGION = "AKIDTEST", "hunter2-s3secret", "test-region-1"
TOKEN = os.environ.get("TEST_S3_TOKEN", "")
seen = {}
lock = threading.Lock()
far = 0


def count(path):
    with lock:
        seen[path] = seen.get(path, 0) + 1
        return seen[path]


def sign(key, text):
    return hmac.new(key, text.encode(), hashlib.sha256).digest()


def why_not_signed(h):
    """None when the request carries a good signature, else what is wrong with it."""
    auth = h.headers.get("Authorization", "")
    if not auth.startswith("AWS4-HMAC-SHA256 "):
        return "AccessDenied"
    parts = dict(p.strip().split("=", 1) for p in auth[len("AWS4-HMAC-SHA256 "):].split(","))
    access, date, region, service, end = parts["Credential"].split("/")
    if access != ACCESS:
        return "InvalidAccessKeyId"
    if (region, service, end) != (REGION, "s3", "aws4_request"):
        return "AuthorizationHeaderMalformed"
    stamp = h.headers.get("x-amz-date", "")
    age = datetime.now(timezone.utc) - datetime.strptime(stamp, "%Y%m%dT%H%M%SZ").replace(tzinfo=timezone.utc)
    if abs(age.total_seconds()) > 900 or not stamp.startswith(date):
        return "RequestTimeTooSkewed"
    signed = parts["SignedHeaders"].split(";")
    if "host" not in signed or "x-amz-date" not in signed or signed != sorted(signed):
        return "SignatureDoesNotMatch"
    if TOKEN and (h.headers.get("x-amz-security-token") != TOKEN or "x-amz-security-token" not in signed):
        return "InvalidToken"
    payload = h.headers.get("x-amz-content-sha256", "")
    if payload != hashlib.sha256(b"").hexdigest():
        return "XAmzContentSHA256Mismatch"
    path, _, query = h.path.partition("?")
    pairs = sorted(p if "=" in p else p + "=" for p in query.split("&")) if query else []
    headers = "".join("%s:%s\n" % (n, " ".join(h.headers.get(n, "").split())) for n in signed)
    canonical = "\n".join([h.command, path, "&".join(pairs), headers, ";".join(signed), payload])
    scope = "/".join([date, region, service, end])
    text = "\n".join(["AWS4-HMAC-SHA256", stamp, scope, hashlib.sha256(canonical.encode()).hexdigest()])
    key = sign(sign(sign(sign(("AWS4" + SECRET).encode(), date), region), service), end)
    good = hmac.compare_digest(sign(key, text).hex(), parts["Signature"])
    return None if good else "SignatureDoesNotMatch"


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *args):
        pass

    def note(self, status):
        with lock, open(LOG, "a") as f:
            f.write("%s %s range=%s if-range=%s %d\n" % (
                self.command, self.path, self.headers.get("Range", ""), self.headers.get("If-Range", ""), status))

    def plain(self, status, body=b"", headers=()):
        self.note(status)
        self.send_response(status)
        for name, value in headers:
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def body(self, data, etag, cut=None, longer=0, ranges=True, bare=False, delay=0):
        first, status, wanted = 0, 200, self.headers.get("Range", "")
        if ranges and wanted.startswith("bytes=") and self.headers.get("If-Range", etag) == etag:
            a, b = wanted[6:].split("-")
            first, last = int(a), min(int(b) if b else len(data) - 1, len(data) - 1)
            if first >= len(data):
                self.plain(416, b"", [("Content-Range", "bytes */%d" % len(data))])
                return
            status, whole, data = 206, len(data), data[first:last + 1]
        self.note(status)
        self.send_response(status)
        if not bare:
            self.send_header("ETag", etag)
        if status == 206:
            self.send_header("Content-Range", "bytes %d-%d/%d" % (first, first + len(data) - 1, whole))
        self.send_header("Content-Length", str(len(data) + longer))
        self.end_headers()
        if self.command == "HEAD":
            return
        sent = data if cut is None else data[:cut]
        step = 4096 if delay else 1 << 20
        for at in range(0, len(sent), step):
            self.wfile.write(sent[at:at + step])
            self.wfile.flush()
            time.sleep(delay / 1000)
        if len(sent) < len(data) or longer:
            self.close_connection = True
            self.connection.close()

    def do_HEAD(self):
        self.do_GET()

    def do_GET(self):
        try:
            self.answer()
        except (BrokenPipeError, ConnectionResetError):
            self.close_connection = True

    def answer(self):
        parts = urllib.parse.unquote(self.path.split("?")[0]).lstrip("/").split("/")
        what, args = parts[0], parts[1:]
        if what == "s3":
            return self.s3(args)
        number = int(args.pop(0)) if what in ("cut", "cutonce", "change", "fail", "slow") else 0
        try:
            with open(os.path.join(ROOT, *args), "rb") as f:
                data = f.read()
        except OSError:
            return self.plain(404, b"nothing\n")
        etag = '"%s"' % hashlib.md5(data).hexdigest()
        get = self.command == "GET"
        nth = count(self.path) if get else 0
        if what == "file":
            return self.body(data, etag)
        if what == "cut":
            return self.body(data, etag, cut=number)
        if what == "cutonce":
            return self.body(data, etag, cut=number if nth == 1 else None)
        if what == "change":
            if nth > 1:
                data = bytes(b ^ 1 for b in data)
                etag = '"changed"'
            return self.body(data, etag, cut=number if nth == 1 else None)
        if what == "short":
            return self.body(data, etag, longer=10)
        if what == "norange":
            return self.body(data, etag, ranges=False, cut=len(data) // 2 if nth == 1 else None)
        if what == "bare":
            return self.body(data, etag, bare=True, ranges=False)
        if what == "fail":
            return self.plain(500, b"trouble\n") if get and nth <= number else self.body(data, etag)
        if what == "nohead":
            return self.plain(405) if not get else self.body(data, etag)
        if what == "slow":
            return self.body(data, etag, delay=number)
        if what == "redirect":
            return self.plain(302, b"", [("Location", "/file/" + "/".join(args))])
        if what == "loop":
            return self.plain(302, b"", [("Location", self.path)])
        if what in ("user", "bearer"):
            want = "Basic " + base64.b64encode(b"me:hunter2-http").decode() if what == "user" else "Bearer hunter2-bearer"
            if self.headers.get("Authorization") != want:
                return self.plain(401)
            return self.body(data, etag)
        return self.plain(404)

    def s3(self, args):
        wrong = why_not_signed(self) if args[0] != "public" else None
        if wrong:
            return self.plain(403, ("<Error><Code>%s</Code></Error>" % wrong).encode())
        bucket = os.path.join(ROOT, args[0])
        if not os.path.isdir(bucket):
            return self.plain(404, b"<Error><Code>NoSuchBucket</Code></Error>")
        key = "/".join(args[1:])
        if not key:
            return self.list(bucket)
        try:
            with open(os.path.join(bucket, key), "rb") as f:
                data = f.read()
        except OSError:
            return self.plain(404, b"<Error><Code>NoSuchKey</Code></Error>")
        if "far" in key:
            self.far_away()
        nth = count(self.path) if self.command == "GET" else 0
        if "gone" in key and nth == 1:
            return self.plain(404, b"<Error><Code>NoSuchKey</Code></Error>")
        return self.body(data, '"%s"' % hashlib.md5(data).hexdigest(), delay=100 if "slow" in key else 0,
                         cut=5000 if nth == 1 and "cut" in key else None)

    def far_away(self):
        global far
        with lock, open(LOG, "a") as f:
            far += 1
            f.write("FAR %d\n" % far)
        time.sleep(0.2)
        with lock:
            far -= 1

    def list(self, bucket):
        q = urllib.parse.parse_qs(self.path.partition("?")[2], keep_blank_values=True)
        if q.get("list-type") != ["2"]:
            return self.plain(400)
        prefix, after = q["prefix"][0], q.get("continuation-token", [""])[0]
        keys = sorted(os.path.relpath(os.path.join(d, f), bucket) for d, _, fs in os.walk(bucket) for f in fs)
        keys = [k for k in keys if k.startswith(prefix) and k > after[2:]]
        out = ['<?xml version="1.0"?><ListBucketResult>']
        for k in keys[:2]:
            with open(os.path.join(bucket, k), "rb") as f:
                data = f.read()
            out.append("<Contents><Key>%s</Key><ETag>&quot;%s&quot;</ETag><Size>%d</Size></Contents>" % (
                urllib.parse.quote_plus(k, safe="/"), hashlib.md5(data).hexdigest(), len(data)))
        out.append("<IsTruncated>%s</IsTruncated>" % ("true" if len(keys) > 2 else "false"))
        if len(keys) > 2:
            # A token may hold anything: slashes, pluses and equal signs must come back as they were.
            out.append("<NextContinuationToken>%s</NextContinuationToken>" % escape("+=" + keys[1]))
        out.append("</ListBucketResult>")
        return self.plain(200, "".join(out).encode(), [("Content-Type", "application/xml")])


server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
server.daemon_threads = True
with open(PORTFILE + ".new", "w") as f:
    f.write("%d\n" % server.server_address[1])
os.rename(PORTFILE + ".new", PORTFILE)
server.serve_forever()
