import BerthArchive
import BerthCore
import BerthSystem
import Foundation
import Synchronization

/// `berth-agent attach`: joins the coordinator's channel (standard input and output) to the agents of this host. It
/// touches no device and ends with its input; the agents go on.
package enum AttachCommand {
    /// Most bytes of messages that wait for the coordinator.
    private static let controlLimit = 32 << 20
    /// Most bytes of evidence of one slot that wait for the coordinator; above all that one attempt can leave.
    private static let laneLimit = EvidenceCollector.totalLimit + (8 << 20)

    private static let log = Log(component: "attach")

    /// Runs until the input ends. Blocks.
    /// - Throws: `AgentFailure`
    package static func run(sockets: String, cache: String, input: Int32 = 0, output: Int32 = 1) throws {
        Signals.ignoreBrokenPipes()
        let upwards = FrameQueue(controlLimit: controlLimit, laneLimit: laneLimit)
        let blobs: BlobThread
        do {
            let directory = try BlobDirectory(path: cache)
            try FileDescriptor(adopting: dup(output)).write(Frame.preamble)
            write(upwards, to: output)
            let hello = HostHello(
                agentVersion: BerthVersion.text,
                hostName: ProcessInfo.processInfo.hostName,
                wallClock: Timestamp.now().milliseconds,
                diskFree: DiskRoom(at: cache).free,
                features: [HostHello.factsFeature]
            )
            _ = upwards.offer(try HostMessage.hostHello(hello).frame())
            blobs = BlobThread(cache: directory) { message in
                do {
                    _ = upwards.offer(try message.frame())
                } catch {
                    log.error("a message cannot be written", ["error": "\(error)"])
                }
            }
        } catch {
            throw AgentFailure(.disk, "\(error)")
        }
        let facts = HostFactsCollector(sockets: sockets, cache: cache)
        let router = AttachRouter(sockets: sockets, upwards: upwards, blobs: blobs, facts: facts) {
            give(up: "the coordinator does not take its messages")
        }
        defer {
            router.end()
            blobs.end()
            upwards.finish()
            _ = upwards.waitUntilDrained(.seconds(1))
        }
        try read(FileDescriptor(adopting: dup(input)), router)
    }

    private static func read(_ input: FileDescriptor, _ router: AttachRouter) throws {
        var decoder = FrameDecoder(expectsPreamble: true)
        do {
            while true {
                let bytes = try input.read(upTo: FileDescriptor.pieceSize)
                if bytes.isEmpty { return }
                decoder.feed(bytes)
                while let frame = try decoder.next() {
                    guard try router.take(frame) else { return }
                }
            }
        } catch let error as AgentFailure {
            router.close(error.description)
            throw error
        } catch {
            router.close("\(error)")
            throw AgentFailure(.protocolMismatch, "\(error)")
        }
    }

    /// Ends the process at once: without its output `attach` is of no use, and its input may never end.
    private static func give(up reason: String) -> Never {
        log.error("attach ends", ["reason": reason])
        exit(AgentFailure.Status.disk.rawValue)
    }

    /// Writes frames on a thread of its own; when that is no longer possible the coordinator is gone.
    private static func write(_ queue: FrameQueue, to output: Int32) {
        Threads.detach(name: "write output") {
            do {
                let descriptor = FileDescriptor(adopting: dup(output))
                while let bytes = queue.take() { try descriptor.write(bytes) }
            } catch {
                give(up: "the output is closed: \(error)")
            }
        }
    }
}
