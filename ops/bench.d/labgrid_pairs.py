"""Acquires and releases labgrid places for a time and prints the rate as JSON.

Starts labgrid's own coordinator and one exporter with 50 resources on loopback, in the present folder, and speaks to
the coordinator as labgrid's client does: gRPC, one stream a client.
"""

import argparse
import asyncio
import json
import os
import socket
import subprocess
import sys
import time

import grpc
from labgrid.remote.generated import labgrid_coordinator_pb2 as pb
from labgrid.remote.generated import labgrid_coordinator_pb2_grpc as pb_grpc
from labgrid.util import labgrid_version

PLACES = 50


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


class Client:
    """One connection with the stream that gives it a name."""

    def __init__(self, address, name):
        # labgrid knows clients by their connection, so none may be shared.
        self.channel = grpc.aio.insecure_channel(address, options=[("grpc.use_local_subchannel_pool", 1)])
        self.stub = pb_grpc.CoordinatorStub(self.channel)
        self.name = name
        self.outgoing = asyncio.Queue()

    async def start(self):
        async def messages():
            while True:
                yield await self.outgoing.get()

        async def drain(call):
            while await call.read() is not grpc.aio.EOF:
                pass

        first = pb.ClientInMessage()
        first.startup.version = labgrid_version()
        first.startup.name = f"bench/{self.name}"
        self.outgoing.put_nowait(first)
        sync = pb.ClientInMessage()
        sync.sync.id = 1
        self.outgoing.put_nowait(sync)
        call = self.stub.ClientStream(messages())
        await call.read()
        self.drain = asyncio.create_task(drain(call))

    async def stop(self):
        self.drain.cancel()
        await self.channel.close()


async def work(client, place, end):
    pairs = 0
    while time.monotonic() < end:
        await client.stub.AcquirePlace(pb.AcquirePlaceRequest(placename=place))
        await client.stub.ReleasePlace(pb.ReleasePlaceRequest(placename=place))
        pairs += 1
    return pairs


async def measure(address, clients, seconds):
    first = Client(address, "setup")
    deadline = time.monotonic() + 30
    while True:
        try:
            await asyncio.wait_for(first.start(), 5)
            break
        except (grpc.aio.AioRpcError, asyncio.TimeoutError):
            if time.monotonic() > deadline:
                raise
            await asyncio.sleep(0.1)
    for number in range(PLACES):
        await first.stub.AddPlace(pb.AddPlaceRequest(name=f"p{number}"))
        await first.stub.AddPlaceMatch(
            pb.AddPlaceMatchRequest(placename=f"p{number}", pattern=f"exporter/g{number}/NetworkService")
        )
    # The exporter's resources must be there, or there is nothing to acquire.
    while True:
        try:
            await first.stub.AcquirePlace(pb.AcquirePlaceRequest(placename=f"p{PLACES - 1}"))
            await first.stub.ReleasePlace(pb.ReleasePlaceRequest(placename=f"p{PLACES - 1}"))
            break
        except grpc.aio.AioRpcError:
            if time.monotonic() > deadline:
                raise
            await asyncio.sleep(0.1)
    all_clients = [Client(address, f"client{number}") for number in range(clients)]
    for client in all_clients:
        await client.start()
    start = time.monotonic()
    counts = await asyncio.gather(
        *(work(client, f"p{number % PLACES}", start + seconds) for number, client in enumerate(all_clients))
    )
    elapsed = time.monotonic() - start
    for client in [first, *all_clients]:
        await client.stop()
    return sum(counts) / elapsed


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--clients", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=5)
    options = parser.parse_args()
    if options.clients > PLACES:
        parser.error(f"at most {PLACES} clients, each needs a place")
    address = f"127.0.0.1:{free_port()}"
    programs = os.path.dirname(sys.executable)
    with open("exporter.yaml", "w", encoding="utf-8") as file:
        for number in range(PLACES):
            file.write(f"g{number}:\n  NetworkService:\n    address: 127.0.0.1\n    username: root\n")
    processes = []
    log = open("labgrid.log", "w", encoding="utf-8")
    try:
        processes.append(
            subprocess.Popen([f"{programs}/labgrid-coordinator", "-l", address], stdout=log, stderr=log)
        )
        processes.append(
            subprocess.Popen(
                [f"{programs}/labgrid-exporter", "-c", address, "-n", "exporter", "exporter.yaml"],
                stdout=log,
                stderr=log,
            )
        )
        rate = asyncio.run(asyncio.wait_for(measure(address, options.clients, options.seconds), options.seconds + 60))
        print(json.dumps({"rate": rate}))
    except Exception as error:  # whatever it is, the log says more
        log.flush()
        with open("labgrid.log", encoding="utf-8") as file:
            print(f"{error!r}\n{file.read()[-2000:]}", file=sys.stderr)
        return 1
    finally:
        for process in processes:
            process.terminate()
        for process in processes:
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
    return 0


if __name__ == "__main__":
    sys.exit(main())
