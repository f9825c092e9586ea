import BerthSystem
import Foundation
import SimulatedDevice

@main
struct Main {
    static func main() {
        exit(BerthSim.run(CommandLine.arguments))
    }
}
