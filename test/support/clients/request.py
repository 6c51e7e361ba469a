"""Sends the requests that standard input lists with clients of Python, and prints the responses: see clients.ts."""

import http.client
import sys
import urllib.error
import urllib.request
from urllib.parse import urlsplit


def body_of(request):
    piece = b" " * 65536
    left = request["bytes"]
    if request["framing"] == "length":
        return b" " * left
    return (piece[: min(len(piece), left - at)] for at in range(0, left, len(piece)))


def with_http_client(request, headers):
    url = urlsplit(request["url"])
    connection = http.client.HTTPConnection(url.hostname, url.port, timeout=60)
    chunked = request["framing"] == "chunked"
    if chunked:
        headers["Transfer-Encoding"] = "chunked"
    connection.request(request["method"], url.path, body_of(request), headers, encode_chunked=chunked)
    response = connection.getresponse()
    answer = response.status, response.read()
    connection.close()
    return answer


def with_urllib(request, headers):
    asked = urllib.request.Request(request["url"], body_of(request), headers, method=request["method"])
    try:
        with urllib.request.urlopen(asked, timeout=60) as response:
            return response.status, response.read()
    except urllib.error.HTTPError as error:
        return error.code, error.read()


def with_requests(request, headers):
    import requests

    response = requests.request(request["method"], request["url"], data=body_of(request), headers=headers, timeout=60)
    return response.status_code, response.content


CLIENTS = {"http.client": with_http_client, "urllib": with_urllib, "requests": with_requests}

for line in sys.stdin:
    client, method, url, length, framing, *headers = line.rstrip("\n").split("\t")
    request = {"method": method, "url": url, "bytes": int(length), "framing": framing}
    try:
        status, body = CLIENTS[client](request, dict(header.split(": ", 1) for header in headers))
        print(status, body.decode(), sep="\t", flush=True)
    except Exception as error:
        print(0, repr(error), sep="\t", flush=True)
