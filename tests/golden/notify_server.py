#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""A mail server and a webhook for notify.sh, mail.bats and alerts.bats.

notify_server.py DIR [SECONDS]: writes DIR/ports ("SMTP HTTP"), then each mail that it
took to DIR/mail.N (envelope, a blank line, the mail as it came) and each POST
to DIR/hook.N. What DIR/mode says decides the answers: ok, rcpt-550, rcpt-451,
slow.example-451 (of that domain), data-451, slow, http-500, http-302. Ends with its standard input, or after SECONDS.
"""
import hashlib
import hmac
import os
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from aiosmtpd.controller import Controller

folder = sys.argv[1]
secret = b"s3cret"
lock = threading.Lock()


def mode():
    try:
        with open(f"{folder}/mode") as file:
            return file.read().strip()
    except FileNotFoundError:
        return "ok"


def keep(kind, data):
    with lock:
        number = sum(n.startswith(kind + ".") for n in os.listdir(folder)) + 1
        with open(f"{folder}/new", "wb") as file:
            file.write(data)
        os.rename(f"{folder}/new", f"{folder}/{kind}.{number}")


class Mail:
    async def handle_RCPT(self, server, session, envelope, address, options):
        with open(f"{folder}/tries", "a") as file:
            file.write(f"{address}\n")
        if mode() == "rcpt-451" or (mode() == "slow.example-451"
                                    and address.endswith("@slow.example")):
            return "451 4.3.0 try again later"
        if mode() == "rcpt-550" and address == "nobody":
            return "550 5.1.1 no such user"
        if mode() == "slow":
            time.sleep(3)
        envelope.rcpt_tos.append(address)
        return "250 OK"

    async def handle_DATA(self, server, session, envelope):
        if mode() == "data-451":
            return "451 4.3.0 no room"
        head = f"from={envelope.mail_from} to={','.join(envelope.rcpt_tos)}\n\n"
        keep("mail", head.encode() + envelope.original_content)
        return "250 OK"


class Hook(BaseHTTPRequestHandler):
    def do_GET(self):
        self.do_POST()

    def do_POST(self):
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        when = self.headers.get("X-Lowtide-Time", "")
        wanted = hmac.new(secret, when.encode() + b"." + body,
                          hashlib.sha256).hexdigest()
        signed = self.headers.get("X-Lowtide-Signature") == f"sha256={wanted}"
        fresh = abs(time.time() - int(when or 0)) < 60
        keep("hook", f"{self.command} {self.path} signed={signed} "
                     f"fresh={fresh}\n".encode() + body)
        status = {"http-500": 500, "http-302": 302}.get(mode(), 204)
        self.send_response(status)
        if status == 302:
            self.send_header("Location", "/elsewhere")
        self.end_headers()

    def log_message(self, *args):
        pass


class Here(Controller):
    def _trigger_server(self):  # it would ask port 0
        self.port = self.server.sockets[0].getsockname()[1]
        super()._trigger_server()


mail = Here(Mail(), hostname="127.0.0.1", port=0)
mail.start()
hook = ThreadingHTTPServer(("127.0.0.1", 0), Hook)
threading.Thread(target=hook.serve_forever, daemon=True).start()
with open(f"{folder}/ports.new", "w") as file:
    file.write(f"{mail.port} {hook.server_port}\n")
os.rename(f"{folder}/ports.new", f"{folder}/ports")
if len(sys.argv) > 2:
    time.sleep(int(sys.argv[2]))
else:
    sys.stdin.read()
