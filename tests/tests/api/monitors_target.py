"""Targets of monitors, on free ports of 127.0.0.1.

The first line that is printed names the ports: {"http", "tls": {name: port}, "authority": file}.
Commands are read from standard input, one a line, and each is answered with a line:

    up | down        what /state answers from now on
    count            how often /state was asked
    last             the last request of /echo as JSON
"""
import asyncio
import datetime
import ipaddress
import json
import ssl
import sys
import tempfile
import time

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

FOLDER = tempfile.mkdtemp()
STATE = {"status": 200, "asked": 0, "last": {}}


def key_and_name(name):
    return ec.generate_private_key(ec.SECP256R1()), x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])


AUTHORITY_KEY, AUTHORITY = key_and_name("Test authority")


def certificate(subject, key, issuer, issuer_key, days, host=None, is_authority=False, began=30):
    now = datetime.datetime.now(datetime.timezone.utc)
    day = datetime.timedelta(days=1)
    builder = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - began * day)
        .not_valid_after(now + days * day)
        .add_extension(x509.BasicConstraints(ca=is_authority, path_length=None), critical=True)
    )
    if host:
        builder = builder.add_extension(x509.SubjectAlternativeName([host]), critical=False)
    return builder.sign(issuer_key, hashes.SHA256())


def write(name, *parts):
    path = f"{FOLDER}/{name}.pem"
    with open(path, "wb") as file:
        for part in parts:
            if hasattr(part, "private_bytes"):
                file.write(part.private_bytes(
                    serialization.Encoding.PEM,
                    serialization.PrivateFormat.PKCS8,
                    serialization.NoEncryption()))
            else:
                file.write(part.public_bytes(serialization.Encoding.PEM))
    return path


def tls_contexts():
    local = x509.IPAddress(ipaddress.ip_address("127.0.0.1"))
    cases = {
        "valid": (60, local, AUTHORITY, AUTHORITY_KEY),
        "ending": (5, local, AUTHORITY, AUTHORITY_KEY),
        "expired": (-1, local, AUTHORITY, AUTHORITY_KEY),
        "elsewhere": (60, x509.DNSName("other.example"), AUTHORITY, AUTHORITY_KEY),
    }
    other_key, other = key_and_name("Other authority")
    cases["unknown"] = (60, local, other, other_key)
    for name, (days, host, issuer, issuer_key) in cases.items():
        key, subject = key_and_name(name)
        made = certificate(subject, key, issuer, issuer_key, days + 0.5, host)
        yield name, write(name, key, made)
    key, subject = key_and_name("self")
    yield "self-signed", write("self", key, certificate(subject, key, subject, key, 60, local))


async def serve(reader, writer):
    try:
        await respond(reader, writer)
    except (ConnectionError, asyncio.IncompleteReadError):
        pass
    finally:
        writer.close()


def answer(status, body=b"Welcome to the shop", headers=""):
    return (f"HTTP/1.1 {status} X\r\n{headers}Content-Length: {len(body)}\r\n\r\n").encode() + body


async def respond(reader, writer):
    head = (await reader.readuntil(b"\r\n\r\n")).decode()
    lines = head.split("\r\n")
    method, path, _ = lines[0].split(" ")
    headers = {name.lower(): value for name, value in (line.split(": ", 1) for line in lines[1:] if line)}
    port = writer.get_extra_info("sockname")[1]
    if path == "/state":
        STATE["asked"] += 1
        writer.write(answer(STATE["status"]))
    elif path == "/echo":
        body = await reader.readexactly(int(headers.get("content-length", "0")))
        STATE["last"] = {"method": method, "headers": headers, "body": body.decode()}
        writer.write(answer(200))
    elif path == "/loop":
        writer.write(answer(302, headers="Location: /loop\r\n"))
    elif path == "/long":
        # Each quote takes three bytes of a URL.
        writer.write(answer(301, headers="Location: /" + '"' * 25_000 + "\r\n"))
    elif path == "/elsewhere":
        await reader.readexactly(int(headers.get("content-length", "0")))
        writer.write(answer(308, headers=f"Location: http://localhost:{port}/echo\r\n"))
    elif path == "/head":
        # The body never comes.
        writer.write(b"HTTP/1.1 200 X\r\nContent-Type: text/event-stream\r\n\r\n")
        await writer.drain()
        await asyncio.sleep(600)
    elif path == "/forbidden":
        writer.write(answer(302, headers=f"Location: http://127.0.0.2:{port}/state\r\n"))
    elif path == "/moved":
        writer.write(answer(301, headers="Location: /state\r\n"))
    elif path == "/slow":
        await asyncio.sleep(0.3)
        writer.write(answer(200))
    elif path == "/silent":
        await asyncio.sleep(600)
    elif path == "/drip":
        writer.write(b"HTTP/1.1 200 X\r\nContent-Length: 100\r\n\r\n")
        while True:
            writer.write(b"x")
            await writer.drain()
            await asyncio.sleep(60)
    elif path == "/endless":
        writer.write(b"HTTP/1.1 200 X\r\nContent-Length: 10000000000\r\n\r\n")
        for _ in range(160_000):
            writer.write(b"y" * 65_536)
            await writer.drain()
    elif path == "/nonsense":
        writer.write(b"I am no HTTP server\r\n\r\n")
    await writer.drain()


async def main():
    plain = await asyncio.start_server(serve, "127.0.0.1", 0)
    tls = {}
    for name, path in tls_contexts():
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(path)
        server = await asyncio.start_server(serve, "127.0.0.1", 0, ssl=context)
        tls[name] = server.sockets[0].getsockname()[1]
    authority = write("authority", certificate(
        AUTHORITY, AUTHORITY_KEY, AUTHORITY, AUTHORITY_KEY, 365, is_authority=True))
    await asyncio.get_running_loop().run_in_executor(None, sys.stdin.readline)
    ports = {"http": plain.sockets[0].getsockname()[1], "tls": tls, "authority": authority}
    print(json.dumps(ports), flush=True)
    while True:
        line = await asyncio.get_running_loop().run_in_executor(None, sys.stdin.readline)
        command = line.strip()
        if not line:
            return
        if command in ("up", "down"):
            STATE["status"] = 200 if command == "up" else 503
            print(time.time(), flush=True)
        elif command == "count":
            print(STATE["asked"], flush=True)
        elif command == "last":
            print(json.dumps(STATE["last"]), flush=True)


asyncio.run(main())
