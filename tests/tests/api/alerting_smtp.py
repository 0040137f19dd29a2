"""A mail server for tests: prints its port, then each accepted message as a JSON line.

    python smtp_server.py [--tls starttls|tls] [--cert server.pem --key server_key.pem]
                          [--auth USER:PASSWORD] [--replies 451,250,550,hang] [--at DATA|RCPT|MAIL]

Without --tls the server is unencrypted. With --auth a login is required, by AUTH PLAIN or AUTH LOGIN (in plain text
too, if there is no TLS). --replies are used up one per message; after the last one all messages are accepted. The reply
250 accepts, `hang` never answers, `dribble` answers one byte a second, anything else refuses with that code; --at says
which command it answers (DATA: after the final dot, the default).

Requires aiosmtpd.
"""

import argparse
import asyncio
import email
import email.policy
import json
import ssl
import sys

from aiosmtpd.smtp import SMTP, AuthResult, LoginPassword


def say(event):
    print(json.dumps(event, ensure_ascii=False), flush=True)


class Handler:
    def __init__(self, replies, at):
        self.replies = list(replies)
        self.at = at

    async def reply(self, at, server):
        """Returns the scripted reply to this command, or None if it is accepted."""
        if at != self.at or not self.replies:
            return None
        reply = self.replies.pop(0)
        if reply == "250":
            return None
        say({"event": "refused", "reply": reply, "at": at})
        if reply == "hang":
            await asyncio.sleep(3600)
        if reply == "dribble":
            while True:
                server._writer.write(b"2")
                await server._writer.drain()
                await asyncio.sleep(1)
        return f"{reply} scripted"

    async def handle_MAIL(self, server, session, envelope, address, options):
        refused = await self.reply("MAIL", server)
        if refused is None:
            envelope.mail_from = address
            envelope.mail_options.extend(options)
        return refused or "250 OK"

    async def handle_RCPT(self, server, session, envelope, address, options):
        refused = await self.reply("RCPT", server)
        if refused is None:
            envelope.rcpt_tos.append(address)
        return refused or "250 OK"

    async def handle_DATA(self, server, session, envelope):
        refused = await self.reply("DATA", server)
        if refused is None:
            say(message_event(server, session, envelope))
        return refused or "250 queued"


def message_event(server, session, envelope):
    message = email.message_from_bytes(envelope.content, policy=email.policy.default)
    parts = []
    for part in message.walk():
        if part.is_multipart():
            continue
        content = part.get_content()
        if isinstance(content, bytes):
            content = content.decode("utf-8", "replace")
        parts.append({"type": part.get_content_type(), "content": content})
    login = session.auth_data if isinstance(session.auth_data, str) else None
    return {
        "event": "message",
        "from": envelope.mail_from,
        "to": envelope.rcpt_tos,
        "options": envelope.mail_options,
        "tls": server.transport.get_extra_info("sslcontext") is not None,
        "login": login,
        "hello": session.host_name,
        "headers": [[name, str(value)] for name, value in message.items()],
        "type": message.get_content_type(),
        "parts": parts,
        "defects": [type(defect).__name__ for part in message.walk() for defect in part.defects],
    }


def authenticator(expected):
    user, _, password = expected.partition(":")

    def check(server, session, envelope, mechanism, data):
        if not isinstance(data, LoginPassword):
            return AuthResult(success=False, handled=False)
        success = data.login == user.encode() and data.password == password.encode()
        say({"event": "login", "mechanism": mechanism, "success": success})
        return AuthResult(success=success, handled=False, auth_data=user)

    return check


async def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--tls", choices=["none", "starttls", "tls"], default="none")
    parser.add_argument("--cert")
    parser.add_argument("--key")
    parser.add_argument("--auth")
    parser.add_argument("--auth-mechanisms", default="PLAIN,LOGIN")
    parser.add_argument("--replies", default="")
    parser.add_argument("--at", choices=["MAIL", "RCPT", "DATA"], default="DATA")
    options = parser.parse_args()

    context = None
    if options.tls != "none":
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(options.cert, options.key)
    handler = Handler([reply for reply in options.replies.split(",") if reply], options.at)
    excluded = [name for name in ("PLAIN", "LOGIN") if name not in options.auth_mechanisms.split(",")]

    def session():
        return SMTP(
            handler,
            hostname="mail.test",
            enable_SMTPUTF8=True,
            decode_data=False,
            tls_context=context if options.tls == "starttls" else None,
            require_starttls=options.tls == "starttls",
            authenticator=authenticator(options.auth) if options.auth else None,
            auth_required=bool(options.auth),
            auth_require_tls=options.tls == "starttls",
            auth_exclude_mechanism=excluded,
        )

    server = await asyncio.get_running_loop().create_server(
        session, options.host, options.port, ssl=context if options.tls == "tls" else None
    )
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


if __name__ == "__main__":
    try:
        asyncio.run(main())
    except KeyboardInterrupt:
        sys.exit(0)
