#!/usr/bin/env python3
"""cutting_proxy SERVER DIRECTORY COUNT - ways to a server, each of which is cut once.

DIRECTORY/c.0 to c.COUNT-1 are sockets that lead to SERVER. Requests that come by one are counted, over all of its
connections. By c.K the request K // 5 meets an end as K % 5 says: 0 before it is sent on, 1 in the middle of it, 2 when it
was answered and before the answer is sent on, 3 in the middle of that, 4 behind it. Then the connection is closed, and
c.K.cut is there; others that come by c.K go on as they are.
"""
import selectors
import socket
import sys
import threading

WHOLE_ROUND = 5
BEFORE, IN_REQUEST, AFTER, IN_ANSWER, BEHIND = range(WHOLE_ROUND)


def end_of(data, at=0):
    """Where the first whole request or answer in it ends; None: more has to come."""
    line = data.find(b"\r\n", at)
    if line < 0:
        return None
    kind, end = data[at:at + 1], line + 2
    if kind not in b"$*":
        return end
    count = int(data[at + 1:line])
    if kind == b"$":
        end += count + 2 if count >= 0 else 0
        return end if end <= len(data) else None
    for _ in range(max(count, 0)):
        end = end_of(data, end)
        if end is None:
            return None
    return end


def take(sock, rest):
    """One request or answer; None: the other side is gone."""
    while (end := end_of(rest)) is None:
        piece = sock.recv(1 << 16)
        if not piece:
            return None
        rest += piece
    one = bytes(rest[:end])
    del rest[:end]
    return one


class Way:
    def __init__(self, server, path, number):
        self.server, self.path = server, path
        self.request, self.phase = divmod(number, WHOLE_ROUND)
        self.count, self.lock = 0, threading.Lock()
        self.listener = socket.socket(socket.AF_UNIX)
        self.listener.bind(path)
        self.listener.listen(16)

    def next_phase(self):
        with self.lock:
            self.count += 1
            return self.phase if self.count - 1 == self.request else None

    def lead(self, client):
        server = socket.socket(socket.AF_UNIX)
        server.connect(self.server)
        asked, answered = bytearray(), bytearray()
        with client, server:
            while (request := take(client, asked)) is not None:
                phase = self.next_phase()
                if phase is not None:
                    open(self.path + ".cut", "w").close()
                if phase == BEFORE:
                    return
                if phase == IN_REQUEST:
                    server.sendall(request[:len(request) // 2])
                    return
                server.sendall(request)
                answer = take(server, answered)
                if answer is None or phase == AFTER:
                    return
                client.sendall(answer[:len(answer) // 2] if phase == IN_ANSWER else answer)
                if phase is not None:
                    return

    def lead_safely(self, client):
        try:
            self.lead(client)
        except OSError:  # one of the two went away
            pass


def main():
    server, directory, count = sys.argv[1], sys.argv[2], int(sys.argv[3])
    selector = selectors.DefaultSelector()
    for number in range(count):
        way = Way(server, f"{directory}/c.{number}", number)
        selector.register(way.listener, selectors.EVENT_READ, way)
    open(directory + "/ready", "w").close()
    while True:
        for key, _ in selector.select():
            client, _ = key.data.listener.accept()
            threading.Thread(target=key.data.lead_safely, args=(client,), daemon=True).start()


main()
