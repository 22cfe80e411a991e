// windlass-audit-netstack ALGORITHM [coarse]: gVisor's TCP as a sender behind the packet interface of `windlass audit`,
// in virtual time. The stack takes its clock as an argument. A coarse clock has the resolution of that of Windows.
package main

import (
	"bytes"
	"fmt"
	"os"
	"runtime"

	"gvisor.dev/gvisor/pkg/buffer"
	"gvisor.dev/gvisor/pkg/tcpip"
	"gvisor.dev/gvisor/pkg/tcpip/header"
	"gvisor.dev/gvisor/pkg/tcpip/link/channel"
	"gvisor.dev/gvisor/pkg/tcpip/network/ipv4"
	"gvisor.dev/gvisor/pkg/tcpip/stack"
	"gvisor.dev/gvisor/pkg/tcpip/transport/tcp"
	"gvisor.dev/gvisor/pkg/waiter"

	"windlass-audit/protocol"
)

const (
	nic = 1
	// Send buffer, which never limits; bytes.
	buffered = 8 << 20
	// Packets that may wait to leave.
	queued = 1 << 16
	// Yields after which every goroutine waits: only one runs at a time.
	yields = 16
	// Resolution of a coarse clock, nanoseconds.
	coarse = 500_000
)

type end struct {
	clock     *clock
	link      *channel.Endpoint
	endpoint  tcpip.Endpoint
	remote    tcpip.FullAddress
	writes    *protocol.Writes
	connected bool
}

func open(setting protocol.Setting, algorithm string) (protocol.Greeting, protocol.End, error) {
	greeting := protocol.Greeting{
		Name: "gVisor", Version: protocol.Version("gvisor.dev/gvisor"), Algorithm: algorithm, Carries: "ip",
	}
	e := &end{clock: &clock{}, writes: protocol.NewWrites(setting)}
	if len(os.Args) > 2 && os.Args[2] == "coarse" {
		e.clock.coarse = coarse
	}
	s := stack.New(stack.Options{
		NetworkProtocols:   []stack.NetworkProtocolFactory{ipv4.NewProtocol},
		TransportProtocols: []stack.TransportProtocolFactory{tcp.NewProtocol},
		Clock:              e.clock,
	})
	control, sack := tcpip.CongestionControlOption(algorithm), tcpip.TCPSACKEnabled(true)
	room := tcpip.TCPSendBufferSizeRangeOption{Min: 4096, Default: buffered, Max: buffered}
	for _, option := range []tcpip.SettableTransportProtocolOption{&control, &sack, &room} {
		if err := s.SetTransportProtocolOption(tcp.ProtocolNumber, option); err != nil {
			return greeting, nil, fmt.Errorf("%T %v: %v", option, algorithm, err)
		}
	}
	e.link = channel.New(queued, setting.MTU, "")
	local := tcpip.AddrFrom4(setting.Local.Addr().As4())
	e.remote = tcpip.FullAddress{Addr: tcpip.AddrFrom4(setting.Remote.Addr().As4()), Port: setting.Remote.Port()}
	s.CreateNIC(nic, e.link)
	s.AddProtocolAddress(nic, tcpip.ProtocolAddress{
		Protocol: ipv4.ProtocolNumber, AddressWithPrefix: local.WithPrefix(),
	}, stack.AddressProperties{})
	s.SetRouteTable([]tcpip.Route{{Destination: header.IPv4EmptySubnet, NIC: nic}})
	endpoint, err := s.NewEndpoint(tcp.ProtocolNumber, ipv4.ProtocolNumber, &waiter.Queue{})
	if err != nil {
		return greeting, nil, fmt.Errorf("no endpoint: %v", err)
	}
	if err := endpoint.Bind(tcpip.FullAddress{Addr: local, Port: setting.Local.Port()}); err != nil {
		return greeting, nil, fmt.Errorf("no address: %v", err)
	}
	e.endpoint = endpoint
	return greeting, e, nil
}

func (e *end) Step(now uint64, arrived [][]byte) ([][]byte, uint64) {
	e.clock.advance(now, settle)
	if !e.connected && e.writes.Next() <= now {
		e.connected = true
		e.endpoint.Connect(e.remote)
	}
	for _, packet := range arrived {
		held := stack.NewPacketBuffer(stack.PacketBufferOptions{Payload: buffer.MakeWithData(packet)})
		e.link.InjectInbound(ipv4.ProtocolNumber, held)
		held.DecRef()
		settle()
	}
	e.write(now)
	settle()
	var leaving [][]byte
	for packet := e.link.Read(); packet != nil; packet = e.link.Read() {
		view := packet.ToView()
		leaving = append(leaving, bytes.Clone(view.AsSlice()))
		view.Release()
		packet.DecRef()
	}
	return leaving, min(e.clock.next(), e.writes.Next())
}

// write writes the data that are due, until the send buffer is full.
func (e *end) write(now uint64) {
	chunk := make([]byte, 1<<16)
	for e.connected {
		due := min(e.writes.Due(now), uint64(len(chunk)))
		if due == 0 {
			return
		}
		took, err := e.endpoint.Write(bytes.NewReader(chunk[:due]), tcpip.WriteOptions{})
		if e.writes.Took(uint64(took)); err != nil || took == 0 {
			return
		}
	}
}

// settle lets all goroutines of the stack run until they wait.
func settle() {
	for range yields {
		runtime.Gosched()
	}
}

func main() {
	runtime.GOMAXPROCS(1)
	algorithm := ""
	if len(os.Args) > 1 {
		algorithm = os.Args[1]
	}
	if err := protocol.Serve(open, algorithm); err != nil {
		fmt.Fprintf(os.Stderr, "windlass-audit-netstack: %v\n", err)
		os.Exit(1)
	}
}
