"""A server that wants a login, with the authorization server beside it, which lets everybody in at once.

LOG gets a line for each thing that happened. LIFE is how many seconds a token is good for. REFUSES: a person who comes
to the page is refused. SILENT: the refusal of a request says no more than its status. OPEN: calls alone want a login.
"""

import base64
import hashlib
import json
import os
import secrets
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlencode, urlsplit

LIFE = int(os.environ.get("LIFE", "3600"))
NEEDED = {"look": "read", "change": "write"}
lock = threading.Lock()
codes = {}
renewals = {}
tokens = {}


def log(line):
    with lock, open(os.environ["LOG"], "a") as file:
        file.write(line + "\n")


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_words):
        pass

    @property
    def here(self):
        return f"http://127.0.0.1:{self.server.server_address[1]}"

    def reply(self, status, value=None, **headers):
        body = b"" if value is None else json.dumps(value).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()
        self.wfile.write(body)

    def do_GET(self):
        url = urlsplit(self.path)
        asked = {name: values[0] for name, values in parse_qs(url.query).items()}
        if url.path == "/.well-known/oauth-protected-resource/mcp":
            self.reply(200, {"resource": self.here + "/mcp", "authorization_servers": [self.here]})
        elif url.path == "/.well-known/oauth-authorization-server":
            self.reply(200, {
                "issuer": self.here,
                "authorization_endpoint": self.here + "/authorize",
                "token_endpoint": self.here + "/token",
                "registration_endpoint": self.here + "/register",
                "response_types_supported": ["code"],
                "code_challenge_methods_supported": ["S256"],
                "token_endpoint_auth_methods_supported": ["client_secret_post"],
            })
        elif url.path == "/authorize":
            log(f"page scope={asked.get('scope', '')} resource={asked['resource'] == self.here + '/mcp'}")
            answer = {"state": asked["state"]}
            if "REFUSES" in os.environ:
                answer |= {"error": "access_denied", "error_description": "not you"}
            else:
                answer["code"] = secrets.token_hex(8)
                codes[answer["code"]] = asked
            self.reply(302, location=asked["redirect_uri"] + "?" + urlencode(answer))
        else:
            self.reply(404)

    def do_POST(self):
        body = self.rfile.read(int(self.headers["content-length"]))
        if self.path == "/register":
            log("registered")
            given = json.loads(body)
            self.reply(201, given | {"client_id": "c1", "client_secret": "opensesame"})
        elif self.path == "/token":
            self.token({name: values[0] for name, values in parse_qs(body.decode()).items()})
        else:
            self.protocol(json.loads(body))

    def do_DELETE(self):
        self.reply(405)

    def token(self, asked):
        grant = asked["grant_type"]
        if asked.get("client_secret") != "opensesame" or asked.get("resource") != self.here + "/mcp":
            log(f"token {grant} refused")
            return self.reply(401, {"error": "invalid_client"})
        if grant == "authorization_code":
            page = codes.pop(asked["code"])
            digest = hashlib.sha256(asked["code_verifier"].encode()).digest()
            if base64.urlsafe_b64encode(digest).rstrip(b"=").decode() != page["code_challenge"]:
                return self.reply(400, {"error": "invalid_grant"})
            scope = page.get("scope", "")
        else:
            # Each token for renewal serves once.
            scope = renewals.pop(asked["refresh_token"], None)
            if scope is None:
                log("renewal refused")
                return self.reply(400, {"error": "invalid_grant"})
        log(f"token {grant}")
        token, renewal = "t" + secrets.token_hex(8), "r" + secrets.token_hex(8)
        tokens[token], renewals[renewal] = scope, scope
        self.reply(200, {"access_token": token, "token_type": "Bearer", "expires_in": LIFE,
                         "refresh_token": renewal, "scope": scope})

    def protocol(self, message):
        method, number = message["method"], message.get("id")
        scope = tokens.get(self.headers.get("authorization", "").removeprefix("Bearer "))
        if scope is None and not ("OPEN" in os.environ and method != "tools/call"):
            if "SILENT" in os.environ:
                return self.reply(401)
            where = self.here + "/.well-known/oauth-protected-resource/mcp"
            return self.reply(401, www_authenticate=f'Bearer resource_metadata="{where}", scope="read"')
        if number is None:
            return self.reply(202)
        if method == "initialize":
            result = {"protocolVersion": message["params"]["protocolVersion"], "capabilities": {"tools": {}},
                      "serverInfo": {"name": "guarded", "version": "1"}}
        elif method == "tools/list":
            result = {"tools": [{"name": name, "inputSchema": {"type": "object"}} for name in NEEDED]}
        else:
            name = message["params"]["name"]
            if NEEDED[name] not in scope.split():
                log(f"{name} forbidden")
                demand = f'Bearer error="insufficient_scope", scope="{NEEDED[name]}"'
                return self.reply(403, www_authenticate=demand)
            log(f"{name} done")
            result = {"content": [{"type": "text", "text": f"{name}: done"}]}
        self.reply(200, {"jsonrpc": "2.0", "id": number, "result": result})


server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
print(server.server_address[1], flush=True)
sys.stdout.close()
server.serve_forever()
